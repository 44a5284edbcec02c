// What the same question would give at other epsilons: a curve of error against price, and its table.
import { BottomAxis, LeftAxis, linePath } from "../../charts/axis";
import { useWidth } from "../../charts/width";
import { formatEpsilon, formatError } from "../../logic/format";
import { logScale } from "../../logic/scale";
import { Panel } from "../../ui/panel";
import { Loading } from "../../ui/states";
import type { Rung } from "./use_explanation";

interface OtherEpsilonsProps {
  rungs: Rung[];
  epsilon: number;
  onEpsilon: (epsilon: number) => void;
}

export function OtherEpsilons({ rungs, epsilon, onEpsilon }: OtherEpsilonsProps) {
  if (rungs.length === 0) return <Panel title="At other epsilons"><Loading lines={3} label="Comparing epsilons" /></Panel>;
  const columns = rungs[0]!.explanation.columns.filter((column) => column.error95 !== null).map((column) => column.name).slice(0, 3);
  if (columns.length === 0) return null;  // errors that are only known with the answer cannot be compared before it
  const errorOf = (rung: Rung, name: string) => rung.explanation.columns.find((column) => column.name === name)?.error95 ?? null;
  return (
    <Panel title="At other epsilons" flush>
      <p class="panel-note small quiet">Expected 95 % error of the same question, had it cost less or more. Asking this is free.</p>
      <div class="panel-body"><ErrorCurve rungs={rungs} columns={columns} errorOf={errorOf} epsilon={epsilon} /></div>
      <div class="table-wrap" tabIndex={0} role="group" aria-label="Errors at other epsilons">
        <table>
          <thead>
            <tr><th scope="col">ε</th>{columns.map((name) => <th key={name} scope="col" class="right">{name}</th>)}<th scope="col"><span class="hidden-visually">Choose</span></th></tr>
          </thead>
          <tbody>
            {rungs.map((rung) => {
              const current = same(rung.epsilon, epsilon);
              return (
                <tr key={rung.epsilon} class={current ? "current-row" : ""}>
                  <td class="number">{formatEpsilon(rung.epsilon)}</td>
                  {columns.map((name) => {
                    const error = errorOf(rung, name);
                    return <td key={name} class="right number">{error === null ? "–" : formatError(error)}</td>;
                  })}
                  <td class="right">
                    {current ? <span class="chip chip-price">chosen</span>
                      : rung.explanation.affordable === false ? <span class="chip chip-danger">too dear</span>
                      : <button type="button" class="button button-small button-bare" onClick={() => onEpsilon(rung.epsilon)}>Use<span class="hidden-visually"> epsilon {formatEpsilon(rung.epsilon)}</span></button>}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}

function same(a: number, b: number): boolean {
  return Math.abs(a / b - 1) < 0.02;
}

const height = 190;

function ErrorCurve({ rungs, columns, errorOf, epsilon }: { rungs: Rung[]; columns: string[]; errorOf: (rung: Rung, name: string) => number | null; epsilon: number }) {
  const [ref, width] = useWidth(420);
  const lines = columns.map((name) => rungs.map((rung) => ({ epsilon: rung.epsilon, error: errorOf(rung, name) }))
    .filter((point): point is { epsilon: number; error: number } => point.error !== null && point.error > 0));
  const errors = lines.flat().map((point) => point.error);
  if (errors.length < 2) return null;
  const x = logScale([rungs[0]!.epsilon, rungs[rungs.length - 1]!.epsilon], [52, width - 14]);
  const y = logScale([Math.min(...errors) / 1.3, Math.max(...errors) * 1.3], [height - 42, 20]);
  return (
    <div ref={ref}>
      <svg class="chart" viewBox={`0 0 ${width} ${height}`} role="img" aria-label="Expected error falls as epsilon grows">
        <LeftAxis scale={y} at={46} reach={width - 8} label="error" />
        <BottomAxis scale={x} at={height - 42} reach={height - 42} label="ε" ticks={rungs.filter((rung, i) => i === 0 || rung.epsilon / rungs[i - 1]!.epsilon > 1.35).map((rung) => rung.epsilon)} />
        {lines.map((line, i) => {
          const spots = line.map((point) => ({ x: x(point.epsilon), y: y(point.error), current: same(point.epsilon, epsilon) }));
          return (
            <g key={columns[i]} class={`series-${i}`}>
              <path d={linePath(spots)} class="series-line" />
              {spots.map((spot) => <circle key={spot.x} cx={spot.x} cy={spot.y} r={spot.current ? 6 : 3.5} class={spot.current ? "series-current" : "series-dot"} />)}
            </g>
          );
        })}
      </svg>
      {columns.length > 1 && (
        <div class="legend">{columns.map((name, i) => <span key={name}><span class={`swatch series-swatch-${i}`} />{name}</span>)}</div>
      )}
    </div>
  );
}

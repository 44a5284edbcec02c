// What the question will cost and how wrong its answer may be, before anything is paid.
import { useState } from "preact/hooks";
import type { Amount } from "../../api/types";
import { formatDelta, formatEpsilon } from "../../logic/format";
import { Field, Slider } from "../../ui/field";
import { Panel } from "../../ui/panel";
import { Empty, ErrorNote, Loading, Note, Notices } from "../../ui/states";
import { BoundPicture, hasYardstick } from "./bound_picture";
import { ErrorPicture } from "./error_picture";
import type { Pricing } from "./use_explanation";

interface PricePanelProps {
  pricing: Pricing;
  epsilon: number;
  onEpsilon: (epsilon: number) => void;
  blank: boolean;
}

export function PricePanel({ pricing, epsilon, onEpsilon, blank }: PricePanelProps) {
  const { explanation, error, pending } = pricing;
  const noisy = explanation?.columns.filter((column): column is typeof column & { error95: number } => column.error95 !== null) ?? [];
  const late = explanation?.columns.filter((column) => column.mechanism !== null && column.error95 === null) ?? [];
  const yardstick = late.filter(hasYardstick);
  return (
    <Panel title="Before you pay" class="price-panel" aside={pending ? <span class="chip"><span class="spinner" aria-hidden="true" /> pricing</span> : undefined}>
      <div class="stack">
        <EpsilonControl epsilon={epsilon} onEpsilon={onEpsilon} />
        {blank && <Empty title="The price appears here">Write a question, and see what it costs and how exact the answer will be. Looking is free.</Empty>}
        {!blank && !explanation && !error && <Loading lines={5} label="Pricing the question" />}
        {error && <ErrorNote error={error} />}
        {explanation && (
          <div class={pending ? "stack stale" : "stack"} aria-busy={pending}>
            <Price cost={explanation.cost.epsilon} delta={explanation.cost.delta} left={explanation.remaining.epsilon} />
            {explanation.affordable === false && <TooDear cost={explanation.cost.epsilon} left={explanation.remaining.epsilon} onEpsilon={onEpsilon} />}
            {(noisy.length > 0 || late.length > 0) && <h3>Expected error</h3>}
            {noisy.slice(0, 4).map((column) => <ErrorPicture key={column.name} column={column} />)}
            {yardstick.slice(0, 4).map((column) => <BoundPicture key={column.name} column={column} />)}
            {yardstick.length > 0 && (
              <p class="small quiet">How many rows count for one person is found privately while answering, within the same price; the error follows it and comes with the answer. Averages: for a group of 1,000 rows.</p>
            )}
            {late.length > yardstick.length && (
              <div class="error-picture small">
                <span class="mono error-name">{late.filter((column) => !hasYardstick(column)).map((column) => column.name).join(", ")}</span>
                <p class="quiet">How much one person can add is found privately while answering, within the same price. The error depends on it and comes with the answer.</p>
              </div>
            )}
            {noisy.length > 4 && <p class="small quiet">and {noisy.length - 4} more columns</p>}
            {noisy.length === 0 && explanation.cost.epsilon === 0 && <Note tone="good">Only public tables: the answer is exact and free.</Note>}
            <Notices notices={explanation.notices} />
          </div>
        )}
      </div>
    </Panel>
  );
}

function EpsilonControl({ epsilon, onEpsilon }: { epsilon: number; onEpsilon: (epsilon: number) => void }) {
  const [typed, setTyped] = useState<string | null>(null);  // until it is taken, so that nothing else that changes on the page undoes it
  return (
    <div class="epsilon-control">
      <Slider label="Privacy loss ε" value={Math.min(4, Math.max(0.01, epsilon))} low={0.01} high={4} logarithmic show={formatEpsilon} valueElsewhere onValue={onEpsilon} />
      <Field label="ε, exactly" type="number" class="mono" inputMode="decimal" min="0.0001" max="100" step="any" value={typed ?? epsilon}
        onInput={(event) => setTyped(event.currentTarget.value)}
        onChange={(event) => {
          setTyped(null);
          const value = Number(event.currentTarget.value);
          if (Number.isFinite(value) && value > 0) onEpsilon(value);
        }} />
      <div class="spread small quiet slider-ends" aria-hidden="true"><span>more private</span><span>more exact</span></div>
    </div>
  );
}

function Price({ cost, delta, left }: { cost: number; delta: number; left: Amount }) {
  const share = left === "unlimited" || cost === 0 ? 0 : left > 0 ? Math.min(1, cost / left) : 1;
  const over = left !== "unlimited" && cost > left * (1 + 1e-9);
  return (
    <div class="stack-tight">
      <div class="spread">
        <span class="price number">ε {formatEpsilon(cost)}{delta > 0 && <span class="price-delta">δ {formatDelta(delta)}</span>}</span>
        <span class="small quiet number">of ε {formatEpsilon(left)} left</span>
      </div>
      <div class="meter" role="img" aria-label={left === "unlimited" ? "The budget has no limit" : `${Math.round(share * 100)} percent of what is left`}>
        <span class={over ? "meter-over" : "meter-next"} style={{ width: `${100 * share}%` }} />
      </div>
    </div>
  );
}

function TooDear({ cost, left, onEpsilon }: { cost: number; left: Amount; onEpsilon: (epsilon: number) => void }) {
  const rest = typeof left === "number" ? Math.floor(left * 1000) / 1000 : 0;
  return (
    <Note tone="warn" live>
      <strong>More than is left</strong>
      <span>This question costs ε {formatEpsilon(cost)}. {rest > 0 ? `Ask for less, or ask the data owner for a grant.` : "Ask the data owner for a grant."}</span>
      {rest > 0 && cost > rest && <div><button type="button" class="button button-small" onClick={() => onEpsilon(rest)}>Use what is left (ε {formatEpsilon(rest)})</button></div>}
    </Note>
  );
}

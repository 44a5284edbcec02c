// Averaging: the same question again and again.
import { useMemo, useState } from "preact/hooks";
import { BottomAxis, LeftAxis, linePath } from "../../charts/axis";
import { useWidth } from "../../charts/width";
import { averagingRun } from "../../lab/averaging";
import { formatEpsilon, formatNumber } from "../../logic/format";
import { linearScale, logScale } from "../../logic/scale";
import { Slider } from "../../ui/field";
import { DiceIcon } from "../../ui/icons";
import { Experiment } from "./experiment";

const exact = 500;
const times = 1000;
const height = 230;

export function AveragingLab() {
  const [epsilon, setEpsilon] = useState(0.2);
  const [seed, setSeed] = useState(4);
  const run = useMemo(() => averagingRun(exact, epsilon, times, seed), [epsilon, seed]);
  return (
    <Experiment
      id="averaging" title="Averaging"
      story={<>If noise were drawn afresh each time, asking often enough would wash it out. Discreet gives the same answer to the same question, for free: there is nothing to average. Fresh noise would have to be paid for each time.</>}
      controls={<>
        <Slider label="Epsilon of one answer" value={epsilon} low={0.05} high={2} logarithmic show={formatEpsilon} onValue={setEpsilon} />
        <div><button type="button" class="button" onClick={() => setSeed(seed + 1)}><DiceIcon />Again</button></div>
      </>}
      picture={<Means run={run} />}
      command={`discreet attack averaging --epsilon ${epsilon}`}
      readings={[
        { label: `fresh noise, off by after ${formatNumber(times)} answers`, value: formatNumber(Number(Math.abs(run.fresh[times - 1]! - exact).toPrecision(2))), tone: "danger" },
        { label: "what that would have cost", value: `ε ${formatEpsilon(epsilon * times)}`, tone: "price" },
        { label: "repeated answer, off by", value: formatNumber(Number(Math.abs(run.repeated[0]! - exact).toPrecision(2))), tone: "good" },
      ]}
    />
  );
}

function Means({ run }: { run: { fresh: number[]; repeated: number[] } }) {
  const [ref, width] = useWidth();
  const reach = Math.max(2, ...run.fresh.map((value) => Math.abs(value - exact))) * 1.15;
  const x = logScale([1, times], [52, width - 14]);
  const y = linearScale([exact - reach, exact + reach], [height - 42, 18], 4);
  const places = run.fresh.map((_, i) => i).filter((i) => i < 60 || i % 7 === 0);
  const path = (values: number[]) => linePath(places.map((i) => ({ x: x(i + 1), y: y(values[i]!) })));
  return (
    <figure>
      <div ref={ref}>
        <svg class="chart" viewBox={`0 0 ${width} ${height}`} role="img" aria-label="The mean of fresh answers homes in on the exact count; the repeated answer stays where it was">
          <LeftAxis scale={y} at={46} reach={width - 12} />
          <BottomAxis scale={x} at={height - 42} reach={height - 42} label="times asked" />
          <line class="truth-line" x1={x(1)} x2={x(times)} y1={y(exact)} y2={y(exact)} />
          <path d={path(run.fresh)} class="mean-fresh" />
          <path d={path(run.repeated)} class="mean-repeated" />
        </svg>
      </div>
      <div class="legend">
        <span><span class="swatch mean-fresh-swatch" />mean of fresh answers</span>
        <span><span class="swatch mean-repeated-swatch" />Discreet: the first answer, again</span>
        <span><span class="swatch truth-swatch" />exact count</span>
      </div>
    </figure>
  );
}

// Randomized response: nobody's answer can be held against them, and yet the share comes out.
import { useMemo, useState } from "preact/hooks";
import { centralError95, survey, truthProbability } from "../../lab/randomized_response";
import { formatEpsilon, formatNumber } from "../../logic/format";
import { linearScale } from "../../logic/scale";
import { Slider } from "../../ui/field";
import { DiceIcon } from "../../ui/icons";
import { BottomAxis } from "../../charts/axis";
import { Whisker } from "../../charts/bar_chart";
import { useWidth } from "../../charts/width";
import { Experiment, percent } from "./experiment";

const shown = 240;

export function ResponseLab() {
  const [people, setPeople] = useState(1000);
  const [share, setShare] = useState(0.3);
  const [epsilon, setEpsilon] = useState(1.1);
  const [seed, setSeed] = useState(1);
  const result = useMemo(() => survey(people, share, epsilon, seed), [people, share, epsilon, seed]);
  const p = truthProbability(epsilon);
  const error = 1.96 * result.standardError;
  return (
    <Experiment
      id="response" title="Randomized response"
      story={<>Did you break the rules? Everybody flips a biased coin in secret and tells the truth with probability {percent(p, 1)}, else the opposite. A yes proves nothing about anyone; the share of yes still comes out.</>}
      controls={<>
        <Slider label="Epsilon of one answer" value={epsilon} low={0.1} high={5} logarithmic show={formatEpsilon} onValue={setEpsilon} />
        <Slider label="People asked" value={people} low={100} high={100000} logarithmic show={(n) => formatNumber(Math.round(n))} onValue={(n) => setPeople(Math.round(n))} />
        <Slider label="True share of yes" value={share} low={0} high={1} step={0.01} show={(s) => percent(s)} onValue={setShare} />
        <div><button type="button" class="button" onClick={() => setSeed(seed + 1)}><DiceIcon />Ask again</button></div>
      </>}
      picture={<>
        <Crowd truth={result.truth} answers={result.answers} />
        <EstimateBar truth={share} estimate={result.estimate} error={error} central={centralError95(people, epsilon)} />
      </>}
      command={`discreet noise randomized-response --epsilon ${epsilon} --value 1`}
      readings={[
        { label: "estimate", value: percent(result.estimate, 1), tone: "value" },
        { label: "95 % error", value: `±${percent(error, 1)}`, tone: "error" },
        { label: "with a trusted curator instead", value: `±${percent(centralError95(people, epsilon), centralError95(people, epsilon) < 0.001 ? 3 : 2)}`, tone: "good" },
      ]}
    />
  );
}

function Crowd({ truth, answers }: { truth: boolean[]; answers: boolean[] }) {
  const [ref, width] = useWidth();
  const size = width < 500 ? 13 : 17;
  const columns = Math.floor(width / size);
  const many = Math.min(shown, truth.length);
  return (
    <figure>
      <div ref={ref}>
        <svg class="chart" viewBox={`0 0 ${width} ${Math.ceil(many / columns) * size}`} role="img" aria-label={`${many} of the people, by what they answered; a ring marks those who did not tell the truth`}>
          {Array.from({ length: many }, (_, i) => {
            const [cx, cy] = [(i % columns) * size + size / 2, Math.floor(i / columns) * size + size / 2];
            const lied = truth[i] !== answers[i];
            return <circle key={i} cx={cx} cy={cy} r={size / 2 - 2.5} class={`person ${answers[i] ? "person-yes" : "person-no"} ${lied ? "person-lied" : ""}`} />;
          })}
        </svg>
      </div>
      <div class="legend">
        <span><span class="swatch round person-yes-swatch" />answered yes</span>
        <span><span class="swatch round person-no-swatch" />answered no</span>
        <span><span class="swatch round person-lied-swatch" />not the truth (only they know)</span>
      </div>
    </figure>
  );
}

function EstimateBar({ truth, estimate, error, central }: { truth: number; estimate: number; error: number; central: number }) {
  const [ref, width] = useWidth();
  const x = linearScale([Math.min(0, estimate - error), Math.max(1, estimate + error)], [92, width - 14], width < 500 ? 3 : 6);
  return (
    <div ref={ref}>
      <svg class="chart" viewBox={`0 0 ${width} 100`} role="img" aria-label={`True share ${percent(truth)}, estimate ${percent(estimate, 1)} plus or minus ${percent(error, 1)}`}>
        <BottomAxis scale={x} at={70} reach={8} format={(value) => percent(value)} />
        <line class="truth-line" x1={x(truth)} x2={x(truth)} y1={4} y2={70} />
        <text x={84} y={28} text-anchor="end">local</text>
        <Whisker scale={x} value={estimate} error={error} y={24} class="whisker" />
        <text x={84} y={54} text-anchor="end">curator</text>
        <Whisker scale={x} value={truth} error={central} y={50} class="whisker" />
      </svg>
    </div>
  );
}

// The steps whose picture is a set of curves.
import { useState } from "preact/hooks";
import { CurveChart } from "../../charts/curve_chart";
import * as bounds from "../../learn/bounds";
import { formatEpsilon, formatNumber } from "../../logic/format";
import { guessBound } from "../../lab/two_worlds";
import { Slider } from "../../ui/field";
import { percent } from "../lab/experiment";
import { Demonstration } from "./demonstration";

const delta = 1e-6;
const digits = (value: number) => formatNumber(Number(value.toPrecision(2)));
const EpsilonSlider = ({ value, onValue, low = 0.05, high = 4, label = "Epsilon" }: { value: number; onValue: (epsilon: number) => void; low?: number; high?: number; label?: string }) =>
  <Slider label={label} value={value} low={low} high={high} logarithmic show={formatEpsilon} onValue={onValue} />;

export function PriorStep() {
  const [epsilon, setEpsilon] = useState(0.7);
  const [prior, setPrior] = useState(0.3);
  const { low, high } = bounds.posteriorBounds(prior, epsilon);
  return (
    <Demonstration
      controls={<>
        <EpsilonSlider value={epsilon} onValue={setEpsilon} />
        <Slider label="Belief before" value={prior} low={0.01} high={0.99} step={0.01} show={(share) => percent(share)} onValue={setPrior} />
      </>}
      readings={[
        { label: "belief after, at most", value: percent(high, 1), tone: "price" },
        { label: "belief after, at least", value: percent(low, 1), tone: "value" },
      ]}>
      <CurveChart label="Belief after the answer against belief before" here={prior}
        x={{ label: "belief before", domain: [0, 1], format: (share) => percent(share) }} y={{ label: "belief after", domain: [0, 1], format: (share) => percent(share) }}
        curves={[
          { name: "at most", at: (share) => bounds.posteriorBounds(share, epsilon).high },
          { name: "at least", at: (share) => bounds.posteriorBounds(share, epsilon).low },
          { name: "unmoved", at: (share) => share, dashed: true },
        ]} />
    </Demonstration>
  );
}

export function GroupStep() {
  const [epsilon, setEpsilon] = useState(0.2);
  const [people, setPeople] = useState(4);
  return (
    <Demonstration
      controls={<>
        <EpsilonSlider value={epsilon} onValue={setEpsilon} high={1} />
        <Slider label="People in the group" value={people} low={1} high={50} show={String} onValue={setPeople} />
      </>}
      readings={[
        { label: "epsilon for the group", value: formatEpsilon(Number((epsilon * people).toPrecision(3))), tone: "price" },
        { label: "guess whether the whole group is there", value: percent(guessBound(epsilon * people), 1), tone: guessBound(epsilon * people) > 0.8 ? "danger" : "good" },
      ]}>
      <CurveChart label="Chance to guess right against the size of the group" here={people}
        x={{ label: "people in the group", domain: [1, 50] }} y={{ label: "guess is right, at most", domain: [0.5, 1], format: (share) => percent(share) }}
        curves={[{ name: "the guarantee", at: (size) => guessBound(epsilon * size) }]} />
    </Demonstration>
  );
}

export function LocalStep() {
  const [epsilon, setEpsilon] = useState(1.1);
  const [people, setPeople] = useState(1000);
  return (
    <Demonstration
      controls={<>
        <EpsilonSlider value={epsilon} onValue={setEpsilon} low={0.1} />
        <Slider label="People" value={people} low={100} high={1_000_000} logarithmic show={(n) => formatNumber(Math.round(n))} onValue={setPeople} />
      </>}
      readings={[
        { label: "everybody randomizes, share of yes", value: `±${percent(bounds.localError95(people, epsilon), 2)}`, tone: "price" },
        { label: "curator adds noise", value: `±${percent(bounds.curatorError95(people, epsilon), 3)}`, tone: "value" },
      ]}>
      <CurveChart label="Error of a share against the number of people" here={people}
        x={{ label: "people", domain: [100, 1_000_000], log: true }} y={{ label: "95 % error", domain: [1e-6, 3], log: true, format: (share) => (share >= 0.01 ? percent(share) : percent(share, 4).replace(/0+ %$/, " %")) }}
        curves={[
          { name: "local (randomized response)", at: (n) => bounds.localError95(n, epsilon) },
          { name: "curator (Laplace)", at: (n) => bounds.curatorError95(n, epsilon) },
          { name: "sampling alone, no privacy", at: bounds.samplingError95, dashed: true },
        ]} />
    </Demonstration>
  );
}

export function ManyCountsStep() {
  const [epsilon, setEpsilon] = useState(1);
  const [counts, setCounts] = useState(50);
  return (
    <Demonstration
      controls={<>
        <EpsilonSlider value={epsilon} onValue={setEpsilon} label="Epsilon in all" />
        <Slider label="Counts" value={counts} low={1} high={10_000} logarithmic show={(k) => formatNumber(Math.round(k))} onValue={(k) => setCounts(Math.round(k))} />
      </>}
      readings={[
        { label: "worst of them, Laplace", value: `±${digits(bounds.laplaceWorstOf(counts, epsilon))}`, tone: "price" },
        { label: "worst of them, Gaussian at δ 1e-6", value: `±${digits(bounds.gaussianWorstOf(counts, epsilon, delta))}`, tone: "value" },
        { label: "people needed for 1 % of the total", value: formatNumber(Math.ceil(100 * Math.min(bounds.laplaceWorstOf(counts, epsilon), bounds.gaussianWorstOf(counts, epsilon, delta)))) },
      ]}>
      <CurveChart label="Worst error against the number of counts" here={counts}
        x={{ label: "counts asked", domain: [1, 10_000], log: true }} y={{ label: "95 % bound on the worst error", domain: [1, 1e6], log: true }}
        curves={[
          { name: "Laplace", at: (k) => bounds.laplaceWorstOf(k, epsilon) },
          { name: "Gaussian, δ 1e-6", at: (k) => bounds.gaussianWorstOf(k, epsilon, delta) },
        ]} />
    </Demonstration>
  );
}

export function CompositionStep() {
  const [epsilon, setEpsilon] = useState(0.05);
  const [times, setTimes] = useState(200);
  return (
    <Demonstration
      controls={<>
        <EpsilonSlider value={epsilon} onValue={setEpsilon} low={0.01} high={1} label="Epsilon of each" />
        <Slider label="Answers" value={times} low={1} high={1000} logarithmic show={(k) => formatNumber(Math.round(k))} onValue={(k) => setTimes(Math.round(k))} />
      </>}
      readings={[
        { label: "basic", value: `ε ${digits(bounds.basicComposition(times, epsilon))}`, tone: "price" },
        { label: "advanced, δ 1e-6", value: `ε ${digits(bounds.advancedComposition(times, epsilon, delta))}`, tone: "value" },
        { label: "concentrated, δ 1e-6", value: `ε ${digits(bounds.concentratedComposition(times, epsilon, delta))}`, tone: "error" },
      ]}>
      <CurveChart label="Total loss against the number of answers" here={times}
        x={{ label: "answers", domain: [1, 1000], log: true }} y={{ label: "epsilon in all", domain: [0.01, 1000], log: true }}
        curves={[
          { name: "basic", at: (k) => bounds.basicComposition(k, epsilon) },
          { name: "advanced (2010)", at: (k) => bounds.advancedComposition(k, epsilon, delta) },
          { name: "concentrated (2016)", at: (k) => bounds.concentratedComposition(k, epsilon, delta) },
        ]} />
    </Demonstration>
  );
}

export function SamplingStep() {
  const [epsilon, setEpsilon] = useState(1);
  const [share, setShare] = useState(0.1);
  return (
    <Demonstration
      controls={<>
        <EpsilonSlider value={epsilon} onValue={setEpsilon} low={0.1} label="Epsilon on the sample" />
        <Slider label="Share of people asked" value={share} low={0.001} high={1} logarithmic show={(q) => percent(q, q < 0.01 ? 1 : 0)} onValue={setShare} />
      </>}
      readings={[
        { label: "epsilon for everybody", value: formatEpsilon(Number(bounds.amplified(share, epsilon).toPrecision(3))), tone: "price" },
        { label: "as a share of what the sample pays", value: percent(bounds.amplified(share, epsilon) / epsilon, 1), tone: "value" },
      ]}>
      <CurveChart label="Epsilon for everybody against the share of people asked" here={share}
        x={{ label: "share asked", domain: [0.001, 1], log: true, format: (q) => percent(q, q < 0.01 ? 1 : 0) }} y={{ label: "epsilon", domain: [0.001, 4], log: true }}
        curves={[{ name: "amplified by sampling", at: (q) => bounds.amplified(q, epsilon) }, { name: "without", at: () => epsilon, dashed: true }]} />
    </Demonstration>
  );
}

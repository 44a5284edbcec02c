// Steps about data: how far one person moves a number, why names taken off are not enough, recognising a participant, day after day, learning, prices, small towns.
import { useState } from "preact/hooks";
import { CurveChart } from "../../charts/curve_chart";
import * as demos from "../../learn/demonstrations";
import { formatEpsilon, formatNumber } from "../../logic/format";
import { Slider } from "../../ui/field";
import { percent } from "../lab/experiment";
import { Demonstration } from "./demonstration";

const delta = 1e-6;
const whole = (value: number) => formatNumber(Math.round(value));
const digits = (value: number) => formatNumber(Number(value.toPrecision(2)));
const share = (value: number) => percent(value, value > 0 && value < 0.1 ? 1 : 0);

interface Tuned {
  value: number;
  onValue: (value: number) => void;
  low: number;
  high: number;
  label: string;
}
const Epsilon = (props: Tuned) => <Slider {...props} logarithmic show={formatEpsilon} />;
const Whole = ({ onValue, ...rest }: Tuned) => <Slider {...rest} logarithmic show={whole} onValue={(value) => onValue(Math.round(value))} />;
const Small = (props: Tuned) => <Slider {...props} show={whole} />;

export function SensitivityStep() {
  const [epsilon, setEpsilon] = useState(1);
  const [people, setPeople] = useState(100);
  const [top, setTop] = useState(100);
  const noise = (sensitivity: number) => `±${digits((top * sensitivity * Math.log(20)) / epsilon)}`;
  return (
    <Demonstration
      controls={<>
        <Epsilon label="Epsilon" value={epsilon} low={0.1} high={4} onValue={setEpsilon} />
        <Whole label="People" value={people} low={3} high={100_000} onValue={setPeople} />
        <Whole label="Numbers lie between 0 and" value={top} low={1} high={1000} onValue={setTop} />
      </>}
      readings={Object.entries(demos.sensitivities).map(([name, of], i) => ({ label: `95 % error of the ${name}`, value: noise(of(people)), tone: ["price", "value", "error"][i]! }))}>
      <CurveChart label="How far one person can move a statistic, against the number of people" here={people}
        x={{ label: "people", domain: [3, 100_000], log: true }} y={{ label: "moved by at most", domain: [top * 1e-5, top * 2], log: true }}
        curves={Object.entries(demos.sensitivities).map(([name, of]) => ({ name, at: (n) => top * of(n) }))} />
    </Demonstration>
  );
}

export function CurseStep() {
  const [people, setPeople] = useState(10_000);
  const [columns, setColumns] = useState(4);
  const [k, setK] = useState(5);
  const kept = (values: number) => (count: number) => demos.kAnonymous(people, count, values, k);
  return (
    <Demonstration
      controls={<>
        <Small label="Columns published" value={columns} low={1} high={12} onValue={setColumns} />
        <Whole label="People" value={people} low={100} high={1_000_000} onValue={setPeople} />
        <Small label="k: at least so many alike" value={k} low={2} high={20} onValue={setK} />
      </>}
      readings={[
        { label: "hidden among k, columns of 2 values", value: share(kept(2)(columns)), tone: "price" },
        { label: "of 5 values", value: share(kept(5)(columns)), tone: "value" },
        { label: "of 10 values", value: share(kept(10)(columns)), tone: "error" },
      ]}>
      <CurveChart label="Share of people who are one of k alike, against the number of columns" here={columns}
        x={{ label: "columns published", domain: [1, 12] }} y={{ label: "people in a group of k or more", domain: [0, 1], format: (value) => percent(value) }}
        curves={[2, 5, 10].map((values) => ({ name: `columns of ${values} values`, at: kept(values) }))} />
    </Demonstration>
  );
}

export function NeedleStep() {
  const [epsilon, setEpsilon] = useState(1);
  const [people, setPeople] = useState(200);
  const [attributes, setAttributes] = useState(2000);
  return (
    <Demonstration
      controls={<>
        <Epsilon label="Epsilon" value={epsilon} low={0.1} high={8} onValue={setEpsilon} />
        <Whole label="People in the study" value={people} low={20} high={10_000} onValue={setPeople} />
        <Whole label="Averages published" value={attributes} low={10} high={100_000} onValue={setAttributes} />
      </>}
      readings={[
        { label: "participants found, exact averages", value: share(demos.memberFound(attributes, people, null, delta)), tone: "price" },
        { label: "with private ones", value: share(demos.memberFound(attributes, people, epsilon, delta)), tone: "value" },
        { label: "by no attack more than", value: share(demos.memberBound(epsilon, delta)), tone: "error" },
      ]}>
      <CurveChart label="Share of participants who are recognised, against the number of averages published" here={attributes}
        x={{ label: "averages published", domain: [10, 100_000], log: true }} y={{ label: "recognised, at 5 % false alarms", domain: [0, 1], format: (value) => percent(value) }}
        curves={[
          { name: "exact averages", at: (d) => demos.memberFound(d, people, null, delta) },
          { name: "private averages, δ 1e-6", at: (d) => demos.memberFound(d, people, epsilon, delta) },
          { name: "what epsilon allows at most", at: () => demos.memberBound(epsilon, delta), dashed: true },
        ]} />
    </Demonstration>
  );
}

export function StreamStep() {
  const [epsilon, setEpsilon] = useState(1);
  const [days, setDays] = useState(365);
  const error = (name: keyof typeof demos.streams) => `±${whole(demos.streams[name](days, epsilon, delta))}`;
  return (
    <Demonstration
      controls={<>
        <Epsilon label="Epsilon, for all days" value={epsilon} low={0.1} high={4} onValue={setEpsilon} />
        <Whole label="Days" value={days} low={2} high={10_000} onValue={setDays} />
      </>}
      readings={[
        { label: "every total asked anew", value: error("anew"), tone: "price" },
        { label: "binary tree", value: error("tree"), tone: "value" },
        { label: "square root of the totals", value: error("root"), tone: "error" },
      ]}>
      <CurveChart label="95 % error of the running total against the number of days" here={days}
        x={{ label: "days", domain: [2, 10_000], log: true }} y={{ label: "error of the last total", domain: [5, 5000], log: true }}
        curves={[
          { name: "every total asked anew", at: (t) => demos.streams.anew(t, epsilon, delta) },
          { name: "binary tree", at: (t) => demos.streams.tree(t, epsilon, delta) },
          { name: "square root of the totals", at: (t) => demos.streams.root(t, epsilon, delta) },
        ]} />
    </Demonstration>
  );
}

export function LearningStep() {
  const [epsilon, setEpsilon] = useState(0.1);
  const [rules, setRules] = useState(1000);
  const [error, setError] = useState(0.05);
  return (
    <Demonstration
      controls={<>
        <Epsilon label="Epsilon of the choice" value={epsilon} low={0.01} high={2} onValue={setEpsilon} />
        <Whole label="Rules to choose from" value={rules} low={2} high={1_000_000} onValue={setRules} />
        <Slider label="Errs more than the best by at most" value={error} low={0.01} high={0.3} logarithmic show={(value) => percent(value, 1)} onValue={setError} />
      </>}
      readings={[
        { label: "people needed without privacy", value: whole(demos.peopleToLearn(rules, error, null)), tone: "value" },
        { label: "with it", value: whole(demos.peopleToLearn(rules, error, epsilon)), tone: "price" },
      ]}>
      <CurveChart label="People needed to choose a rule, against how exact it must be" here={error}
        x={{ label: "errs more than the best by at most", domain: [0.01, 0.3], log: true, format: (value) => percent(value) }} y={{ label: "people needed", domain: [100, 2_000_000], log: true }}
        curves={[
          { name: "chosen privately", at: (a) => demos.peopleToLearn(rules, a, epsilon) },
          { name: "chosen without privacy", at: (a) => demos.peopleToLearn(rules, a, null) },
        ]} />
    </Demonstration>
  );
}

export function PriceStep() {
  const [epsilon, setEpsilon] = useState(0.5);
  const [bidders, setBidders] = useState(100);
  return (
    <Demonstration
      controls={<>
        <Epsilon label="Epsilon" value={epsilon} low={0.05} high={4} onValue={setEpsilon} />
        <Whole label="Bidders" value={bidders} low={5} high={5000} onValue={setBidders} />
      </>}
      readings={[
        { label: "the private price takes in, of the best", value: share(demos.expectedTakings(bidders, epsilon)), tone: "value" },
        { label: "a price picked blindly", value: share(demos.expectedTakings(bidders, 1e-9)) },
      ]}>
      <CurveChart label="Takings at each price, and how likely it is to be posted" here={50}
        x={{ label: "price", domain: [1, 100] }} y={{ label: "as a share of the best", domain: [0, 1], format: (value) => percent(value) }}
        curves={[
          { name: "how likely the price is posted", at: (price) => demos.postedChance(price, bidders, epsilon) },
          { name: "what it takes in", at: (price) => demos.takings(price) },
        ]} />
    </Demonstration>
  );
}

export function TownsStep() {
  const [epsilon, setEpsilon] = useState(0.2);
  const [size, setSize] = useState(5);
  const [towns, setTowns] = useState(3000);
  return (
    <Demonstration
      controls={<>
        <Epsilon label="Epsilon" value={epsilon} low={0.05} high={2} onValue={setEpsilon} />
        <Whole label="People in each town" value={size} low={1} high={100} onValue={setSize} />
        <Whole label="Towns" value={towns} low={10} high={100_000} onValue={setTowns} />
      </>}
      readings={[
        { label: "towns with fewer than no people", value: share(demos.negativeShare(size, epsilon)), tone: "danger" },
        { label: "set to zero: the country grows by", value: whole(demos.clippedTotalBias(towns, size, epsilon)), tone: "price" },
        { label: "made to add up: total within", value: `±${whole(demos.consistentTotalError(epsilon))}`, tone: "value" },
      ]}>
      <CurveChart label="Error of the country's total against the size of the towns" here={size}
        x={{ label: "people in each town", domain: [1, 100], log: true }} y={{ label: "error of the total, people", domain: [1, 1_000_000], log: true }}
        curves={[
          { name: "each town set to zero where it is below", at: (s) => demos.clippedTotalBias(towns, s, epsilon) },
          { name: "total released too, towns made to add up", at: () => demos.consistentTotalError(epsilon) },
        ]} />
    </Demonstration>
  );
}

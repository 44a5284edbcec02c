// The lectures' steps: linear queries, the privacy loss, overfitting, the smoker, sparse vector.
import { useState } from "preact/hooks";
import { CurveChart } from "../../charts/curve_chart";
import { advancedComposition, laplaceWorstOf } from "../../learn/bounds";
import * as lectures from "../../learn/lectures";
import { formatEpsilon, formatNumber } from "../../logic/format";
import { Slider } from "../../ui/field";
import { percent } from "../lab/experiment";
import { Demonstration } from "./demonstration";

const delta = 1e-6;
const whole = (value: number) => formatNumber(Math.round(value));
const share = (value: number) => percent(Math.min(1, value), value < 0.01 ? 3 : 1);
const digits = (value: number) => formatNumber(Number(value.toPrecision(2)));

interface Tuned {
  value: number;
  onValue: (value: number) => void;
  low: number;
  high: number;
  label: string;
}
const Epsilon = (props: Tuned) => <Slider {...props} logarithmic show={formatEpsilon} />;
const Whole = ({ onValue, ...rest }: Tuned) => <Slider {...rest} logarithmic show={whole} onValue={(value) => onValue(Math.round(value))} />;

export function LinearStep() {
  const [epsilon, setEpsilon] = useState(1);
  const [queries, setQueries] = useState(100);
  const [people, setPeople] = useState(10_000);
  return (
    <Demonstration
      controls={<>
        <Epsilon label="Epsilon in all" value={epsilon} low={0.1} high={4} onValue={setEpsilon} />
        <Whole label="Questions" value={queries} low={1} high={10_000} onValue={setQueries} />
        <Whole label="People" value={people} low={100} high={1_000_000} onValue={setPeople} />
      </>}
      readings={[
        { label: "Laplace, every answer within", value: share(lectures.linearLaplace(queries, people, epsilon)), tone: "price" },
        { label: "randomized response", value: share(lectures.linearResponse(queries, people, epsilon)), tone: "value" },
        { label: "Gaussian, δ 1e-6", value: share(lectures.linearGaussian(queries, people, epsilon, delta)), tone: "error" },
      ]}>
      <CurveChart label="Error of all answers against the number of people" here={people}
        x={{ label: "people", domain: [100, 1_000_000], log: true }} y={{ label: "every answer within (share of people)", domain: [1e-6, 10], log: true }}
        curves={[
          { name: "Laplace", at: (n) => lectures.linearLaplace(queries, n, epsilon) },
          { name: "randomized response", at: (n) => lectures.linearResponse(queries, n, epsilon) },
          { name: "Gaussian, δ 1e-6", at: (n) => lectures.linearGaussian(queries, n, epsilon, delta) },
        ]} />
    </Demonstration>
  );
}

export function LossStep() {
  const [epsilon, setEpsilon] = useState(0.1);
  const [times, setTimes] = useState(100);
  const basic = times * epsilon;
  const advanced = Math.min(basic, advancedComposition(times, epsilon, delta));
  return (
    <Demonstration
      controls={<>
        <Epsilon label="Epsilon of each" value={epsilon} low={0.01} high={1} onValue={setEpsilon} />
        <Whole label="Answers" value={times} low={2} high={1000} onValue={setTimes} />
      </>}
      readings={[
        { label: "at worst (basic)", value: `ε ${digits(basic)}`, tone: "price" },
        { label: "advanced, δ 1e-6", value: `ε ${digits(advanced)}`, tone: "value" },
        { label: "on average", value: digits(lectures.lossMean(times, epsilon)), tone: "good" },
      ]}>
      <CurveChart label="Chance that the total loss is above a value" here={advanced}
        x={{ label: "total privacy loss", domain: [-basic, basic] }} y={{ label: "chance of more", domain: [1e-9, 1], log: true }}
        curves={[
          { name: "exactly", at: (x) => lectures.lossTail(times, epsilon, x) },
          { name: "Azuma's bound", at: (x) => lectures.azumaTail(times, epsilon, x), dashed: true },
        ]} />
    </Demonstration>
  );
}

export function OverfitStep() {
  const [epsilon, setEpsilon] = useState(0.05);
  const [features, setFeatures] = useState(500);
  const [people, setPeople] = useState(200);
  const plain = lectures.bestOfCoins(features, people), kept = lectures.privateOptimism(epsilon);
  return (
    <Demonstration
      controls={<>
        <Epsilon label="Epsilon of the choice" value={epsilon} low={0.01} high={1} onValue={setEpsilon} />
        <Whole label="Rules to choose from" value={features} low={2} high={100_000} onValue={setFeatures} />
        <Whole label="People in the sample" value={people} low={20} high={100_000} onValue={setPeople} />
      </>}
      readings={[
        { label: "the best on the sample looks too good by about", value: share(plain), tone: "danger" },
        { label: "a private choice on average by at most", value: share(Math.min(kept, plain)), tone: "good" },
      ]}>
      <CurveChart label="How much too good a rule looks, against the number of people" here={people}
        x={{ label: "people in the sample", domain: [20, 100_000], log: true }} y={{ label: "looks better than it is by", domain: [0, 0.6], format: (value) => percent(value) }}
        curves={[
          { name: "the best on the sample", at: (n) => lectures.bestOfCoins(features, n) },
          { name: "chosen privately, at most", at: (n) => Math.min(lectures.bestOfCoins(features, n), kept) },
        ]} />
    </Demonstration>
  );
}

export function SmokerStep() {
  const [epsilon, setEpsilon] = useState(0.2);
  const [people, setPeople] = useState(400);
  return (
    <Demonstration
      controls={<>
        <Epsilon label="Epsilon of the study" value={epsilon} low={0.05} high={2} onValue={setEpsilon} />
        <Whole label="People in the study" value={people} low={50} high={10_000} onValue={setPeople} />
      </>}
      readings={[
        { label: "premium rises, Alice took part", value: percent(lectures.studyConcludes(people, epsilon, true), 1), tone: "price" },
        { label: "premium rises, she did not", value: percent(lectures.studyConcludes(people, epsilon, false), 1), tone: "value" },
        { label: "promised: times as likely, at most", value: digits(Math.exp(epsilon)) },
      ]}>
      <CurveChart label="Chance that the study concludes that smoking causes cancer" here={people}
        x={{ label: "people in the study", domain: [50, 10_000], log: true }} y={{ label: "chance that premiums rise", domain: [0, 1], format: (value) => percent(value) }}
        curves={[
          { name: "Alice took part", at: (n) => lectures.studyConcludes(n, epsilon, true) },
          { name: "Alice did not", at: (n) => lectures.studyConcludes(n, epsilon, false), dashed: true },
        ]} />
    </Demonstration>
  );
}

export function SparseStep() {
  const [epsilon, setEpsilon] = useState(1);
  const [above, setAbove] = useState(3);
  const [questions, setQuestions] = useState(1000);
  return (
    <Demonstration
      controls={<>
        <Epsilon label="Epsilon in all" value={epsilon} low={0.1} high={4} onValue={setEpsilon} />
        <Whole label="Yeses to pay for" value={above} low={1} high={50} onValue={setAbove} />
        <Whole label="Questions" value={questions} low={10} high={1_000_000} onValue={setQuestions} />
      </>}
      readings={[
        { label: "wrong only within", value: `±${digits(lectures.sparseError(questions, above, epsilon))}`, tone: "good" },
        { label: "noise on every answer", value: `±${digits(laplaceWorstOf(questions, epsilon))}`, tone: "danger" },
      ]}>
      <CurveChart label="Error against the number of questions" here={questions}
        x={{ label: "questions", domain: [10, 1_000_000], log: true }} y={{ label: "95 % bound on the error", domain: [10, 1e8], log: true }}
        curves={[
          { name: "sparse vector", at: (k) => lectures.sparseError(k, above, epsilon) },
          { name: "Laplace on every answer", at: (k) => laplaceWorstOf(k, epsilon) },
        ]} />
    </Demonstration>
  );
}

// Noise against epsilon: one count in two worlds, with and without one person.
import { useMemo, useState } from "preact/hooks";
import { Heaps, heapCount as count } from "../../charts/heaps";
import { guessBound, laplaceError95, simulateTwoWorlds } from "../../lab/two_worlds";
import { formatEpsilon, formatError, formatNumber } from "../../logic/format";
import { Slider } from "../../ui/field";
import { Experiment, percent } from "./experiment";

const trials = 4000;

export function NoiseLab() {
  const [epsilon, setEpsilon] = useState(0.3);
  const worlds = useMemo(() => simulateTwoWorlds(count, epsilon, trials, 20261115), [epsilon]);
  const error = laplaceError95(epsilon);
  return (
    <Experiment
      id="noise" title="Noise against epsilon"
      story={<>How many in Merrow were ill? {formatNumber(count)}, or {formatNumber(count - 1)} had one person stayed away. Each world's answer is released {formatNumber(trials)} times. The less the two heaps differ, the less an answer says about that person.</>}
      controls={<Slider label="Epsilon" value={epsilon} low={0.02} high={4} logarithmic show={formatEpsilon} onValue={setEpsilon} />}
      picture={<Heaps worlds={worlds} error={error} />}
      command={`discreet noise laplace --epsilon ${epsilon} --sensitivity 1 --value 1000`}
      readings={[
        { label: "95 % error", value: formatError(error), tone: "error" },
        { label: "any outcome is at most this much likelier in one world than in the other", value: `${formatNumber(Number(Math.exp(epsilon).toPrecision(3)))}×` },
        { label: "best guess which world it is", value: percent(guessBound(epsilon), 1), tone: epsilon > 1.5 ? "danger" : "good" },
      ]}
    />
  );
}

import { useMemo, useState } from "preact/hooks";
import { Heaps, heapCount } from "../../charts/heaps";
import { guessBound, laplaceError95, simulateTwoWorlds } from "../../lab/two_worlds";
import { formatEpsilon, formatError } from "../../logic/format";
import { Slider } from "../../ui/field";
import { percent } from "../lab/experiment";
import { Demonstration } from "./demonstration";

export function WorldsStep() {
  const [epsilon, setEpsilon] = useState(0.5);
  const worlds = useMemo(() => simulateTwoWorlds(heapCount, epsilon, 4000, 7), [epsilon]);
  return (
    <Demonstration
      controls={<Slider label="Epsilon" value={epsilon} low={0.05} high={4} logarithmic show={formatEpsilon} onValue={setEpsilon} />}
      readings={[
        { label: "95 % error", value: formatError(laplaceError95(epsilon)), tone: "error" },
        { label: "most likely to guess right", value: percent(guessBound(epsilon), 1), tone: "price" },
      ]}>
      <Heaps worlds={worlds} error={laplaceError95(epsilon)} />
    </Demonstration>
  );
}

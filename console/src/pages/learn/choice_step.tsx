import { useState } from "preact/hooks";
import { exponentialChoice, exponentialShortfall } from "../../learn/bounds";
import { formatEpsilon, formatNumber } from "../../logic/format";
import { Slider } from "../../ui/field";
import { percent } from "../lab/experiment";
import { Demonstration } from "./demonstration";

const colours = ["blue", "green", "red", "yellow"];

export function ChoiceStep() {
  const [epsilon, setEpsilon] = useState(0.2);
  const [votes, setVotes] = useState([42, 35, 18, 5]);
  const chances = exponentialChoice(votes, epsilon);
  return (
    <Demonstration
      controls={<>
        <Slider label="Epsilon" value={epsilon} low={0.01} high={2} logarithmic show={formatEpsilon} onValue={setEpsilon} />
        {colours.map((colour, i) => (
          <Slider key={colour} label={`Votes for ${colour}`} value={votes[i]!} low={0} high={60} show={String} onValue={(count) => setVotes(votes.map((old, j) => (j === i ? count : old)))} />
        ))}
      </>}
      readings={[
        { label: "chance that the winner is picked", value: percent(chances[votes.indexOf(Math.max(...votes))]!, 1), tone: "value" },
        { label: "votes behind the winner, 95 times in 100 at most", value: formatNumber(Math.ceil(exponentialShortfall(colours.length, epsilon))), tone: "error" },
      ]}>
      <ul class="choices" aria-label="Chance of each colour">
        {colours.map((colour, i) => (
          <li key={colour}>
            <span>{colour}</span>
            <span class="choice-bars">
              <span class="choice-votes" style={{ width: `${(100 * votes[i]!) / 60}%` }} />
              <span class="choice-chance" style={{ width: `${100 * chances[i]!}%` }} />
            </span>
            <span class="number">{votes[i]} votes, {percent(chances[i]!, 1)}</span>
          </li>
        ))}
      </ul>
      <div class="legend"><span><span class="swatch choice-votes" />votes (secret)</span><span><span class="swatch choice-chance" />chance to be picked</span></div>
    </Demonstration>
  );
}

// Differencing: two harmless totals, one secret.
import { useMemo, useState } from "preact/hooks";
import { attack, neighbourhood, successRate, type Attack } from "../../lab/differencing";
import { seededUniform } from "../../lab/random";
import { guessBound } from "../../lab/two_worlds";
import { formatEpsilon, formatNumber } from "../../logic/format";
import { Segments, Slider } from "../../ui/field";
import { DiceIcon } from "../../ui/icons";
import { Experiment, percent } from "./experiment";

const street = neighbourhood(24, 3);

export function DifferencingLab() {
  const [mode, setMode] = useState<"exact" | "private">("exact");
  const [epsilon, setEpsilon] = useState(0.5);
  const [target, setTarget] = useState(0);
  const [seed, setSeed] = useState(1);
  const result = useMemo(() => attack(street, target, mode === "exact" ? null : epsilon, seededUniform(seed * 7919 + target)), [mode, epsilon, target, seed]);
  const rate = useMemo(() => successRate(mode === "exact" ? null : epsilon, 4000, 5), [mode, epsilon]);
  const person = street[target]!;
  return (
    <Experiment
      id="differencing" title="Differencing"
      story={<>Nobody may ask about one person. But two totals are harmless, are they not? One over the whole street and one without your neighbour: subtract. Pick somebody.</>}
      controls={<>
        <Segments label="Answers" value={mode} onValue={setMode} options={[{ value: "exact", label: "Exact answers" }, { value: "private", label: "Private answers" }]} />
        {mode === "private" && <Slider label="Epsilon of both answers together" value={epsilon} low={0.05} high={8} logarithmic show={formatEpsilon} onValue={setEpsilon} />}
        <div><button type="button" class="button" onClick={() => setSeed(seed + 1)}><DiceIcon />Attack again</button></div>
      </>}
      picture={<>
        <div class="street" role="group" aria-label="Whom to attack">
          {street.map((resident, i) => (
            <button key={i} type="button" class="resident" aria-pressed={i === target} onClick={() => setTarget(i)} title={`${resident.name}, ${resident.street}`}>
              {initials(resident.name)}<span class="hidden-visually"> {resident.name}</span>
            </button>
          ))}
        </div>
        <Subtraction result={result} name={person.name} />
        <p class={`verdict ${mode === "exact" ? "verdict-broken" : ""}`} role="status">
          {mode === "exact"
            ? <>The attacker <strong>knows</strong>: {person.name} {result.guess ? "broke the rules" : "kept the rules"}.</>
            : <>The attacker guesses that {person.name} {result.guess ? "broke" : "kept"} the rules, and is {result.right ? "right this time" : "wrong this time"}. It is little better than a coin.</>}
        </p>
      </>}
      command={`discreet attack differencing --epsilon ${epsilon}`}
      readings={[
        { label: "attack is right", value: percent(rate, 1), tone: mode === "exact" ? "danger" : rate > 0.75 ? "error" : "good" },
        { label: "guarantee: right at most", value: mode === "exact" ? "no guarantee" : percent(guessBound(epsilon), 1), tone: mode === "exact" ? "danger" : "good" },
        { label: "a coin", value: "50 %" },
      ]}
    />
  );
}

function Subtraction({ result, name }: { result: Attack; name: string }) {
  return (
    <div class="subtraction number">
      <div><span class="small quiet">how many broke the rules?</span><strong>{formatNumber(result.everyone)}</strong></div>
      <span aria-hidden="true">−</span>
      <div><span class="small quiet">without {name}?</span><strong>{formatNumber(result.withoutTarget)}</strong></div>
      <span aria-hidden="true">=</span>
      <div><span class="small quiet">difference</span><strong class={result.difference === 0 || result.difference === 1 ? "" : "tone-error"}>{formatNumber(result.difference)}</strong></div>
    </div>
  );
}

function initials(name: string): string {
  return name.split(/[ ,]+/).slice(0, 2).map((part) => part[0]).join("");
}

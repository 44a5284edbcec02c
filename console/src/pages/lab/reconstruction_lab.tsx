// Reconstruction: many accurate counts give away everybody at once; noise about sqrt(n) is where that ends.
import { useMemo, useState } from "preact/hooks";
import { BottomAxis, LeftAxis, linePath } from "../../charts/axis";
import { useWidth } from "../../charts/width";
import { predictedAccuracy, reconstruct, type Reconstruction } from "../../lab/reconstruction";
import { formatNumber } from "../../logic/format";
import { linearScale, logScale } from "../../logic/scale";
import { Slider } from "../../ui/field";
import { DiceIcon } from "../../ui/icons";
import { Experiment, percent } from "./experiment";

const people = 100;
const root = Math.sqrt(people);
const ladder = [0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1, 1.5, 2.5, 4];
const height = 230;

export function ReconstructionLab() {
  const [noise, setNoise] = useState(0.1);
  const [perPerson, setPerPerson] = useState(4);
  const [seed, setSeed] = useState(1);
  const queries = perPerson * people;
  const result = useMemo(() => reconstruct(people, queries, noise * root, seed), [noise, queries, seed]);
  const curve = useMemo(() => ladder.map((ratio, i) => ({ ratio, accuracy: (reconstruct(people, queries, ratio * root, 100 + i).accuracy + reconstruct(people, queries, ratio * root, 200 + i).accuracy) / 2 })), [queries]);
  return (
    <Experiment
      id="reconstruction" title="Reconstruction"
      story={<>{people} people, one secret bit each. The attacker asks {formatNumber(queries)} counts over random halves of them and solves for the bits (Dinur and Nissim, 2003). With noise well below √n = {root}, nearly everybody falls.</>}
      controls={<>
        <Slider label="Noise, as a multiple of √n" value={noise} low={0.02} high={4} logarithmic show={(value) => formatNumber(value)} onValue={setNoise} />
        <Slider label="Counts asked per person" value={perPerson} low={2} high={10} show={String} onValue={setPerPerson} />
        <div><button type="button" class="button" onClick={() => setSeed(seed + 1)}><DiceIcon />Other people</button></div>
      </>}
      picture={<div class="reconstruction-picture"><Bits result={result} /><PhaseChange curve={curve} queries={queries} noise={noise} accuracy={result.accuracy} /></div>}
      command={`discreet attack reconstruct --people ${people} --queries ${queries}`}
      readings={[
        { label: "bits found", value: percent(result.accuracy), tone: result.accuracy > 0.9 ? "danger" : result.accuracy > 0.7 ? "error" : "good" },
        { label: "predicted by least squares", value: percent(predictedAccuracy(people, queries, noise * root)) },
        { label: "guessing", value: "50 %" },
      ]}
    />
  );
}

function Bits({ result }: { result: Reconstruction }) {
  return (
    <figure>
      <svg class="chart bits" viewBox="0 0 200 200" role="img" aria-label={`${percent(result.accuracy)} of the secret bits were found`}>
        {result.secret.map((bit, i) => {
          const [x, y] = [(i % 10) * 20 + 2, Math.floor(i / 10) * 20 + 2];
          const found = result.guess[i] === bit;
          return (
            <g key={i}>
              <rect x={x} y={y} width="16" height="16" rx="4" class={found ? "bit-found" : "bit-safe"} />
              <text x={x + 8} y={y + 12} text-anchor="middle" class={found ? "bit-found-text" : "bit-safe-text"}>{bit ? 1 : 0}</text>
            </g>
          );
        })}
      </svg>
      <div class="legend"><span><span class="swatch bit-found-swatch" />found out</span><span><span class="swatch bit-safe-swatch" />not found</span></div>
    </figure>
  );
}

function PhaseChange({ curve, queries, noise, accuracy }: { curve: { ratio: number; accuracy: number }[]; queries: number; noise: number; accuracy: number }) {
  const [ref, width] = useWidth(380);
  const x = logScale([0.02, 4], [44, width - 14]);
  const y = linearScale([0.4, 1], [height - 42, 18], 4);
  const law = Array.from({ length: 60 }, (_, i) => 0.02 * 200 ** (i / 59)).map((ratio) => ({ x: x(ratio), y: y(predictedAccuracy(people, queries, ratio * root)) }));
  return (
    <figure>
      <div ref={ref}>
        <svg class="chart" viewBox={`0 0 ${width} ${height}`} role="img" aria-label="Share of bits found against noise: near one below a tenth of the root of n, falling to one half above it">
          <LeftAxis scale={y} at={40} reach={width - 12} format={(value) => percent(value)} />
          <BottomAxis scale={x} at={height - 42} reach={height - 42} label="noise / √n" />
          <line class="truth-line" x1={x(0.02)} x2={x(4)} y1={y(0.5)} y2={y(0.5)} />
          <path d={linePath(law)} class="law-line" />
          {curve.map((point) => <circle key={point.ratio} cx={x(point.ratio)} cy={y(point.accuracy)} r={3.5} class="law-dot" />)}
          <circle cx={x(noise)} cy={y(accuracy)} r={6.5} class="law-here" />
        </svg>
      </div>
      <div class="legend"><span><span class="swatch law-swatch" />theory</span><span><span class="swatch round law-dot-swatch" />attacks run here</span><span><span class="swatch round law-here-swatch" />yours</span></div>
    </figure>
  );
}

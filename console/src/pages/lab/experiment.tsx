// The frame of an experiment: its story, the controls, the picture, and what it means in numbers.
import type { ComponentChildren } from "preact";

interface ExperimentProps {
  id: string;
  title: string;
  story: ComponentChildren;
  controls: ComponentChildren;
  picture: ComponentChildren;
  /** The same against the real mechanisms. */
  command: string;
  readings: { label: string; value: string; tone?: "value" | "error" | "price" | "danger" | "good" }[];
}

export function Experiment({ id, title, story, controls, picture, command, readings }: ExperimentProps) {
  return (
    <section class="panel experiment" id={`lab-${id}`} tabIndex={-1} aria-labelledby={`lab-${id}-title`}>
      <div class="experiment-side">
        <h2 id={`lab-${id}-title`}>{title}</h2>
        <p class="quiet small">{story}</p>
        <div class="stack experiment-controls">{controls}</div>
        <p class="experiment-command"><span class="small quiet">With the real mechanisms</span><code>{command}</code></p>
      </div>
      <div class="experiment-main">
        {picture}
        <dl class="readings" aria-live="polite">
          {readings.map(({ label, value, tone }) => (
            <div key={label}><dt>{label}</dt><dd class={`number ${tone ? `tone-${tone}` : ""}`}>{value}</dd></div>
          ))}
        </dl>
      </div>
    </section>
  );
}

export function percent(share: number, digits = 0): string {
  return `${(100 * share).toFixed(digits)} %`;
}

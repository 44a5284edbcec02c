// The layout of a demonstration: sliders beside the picture, what it says in numbers below.
import type { ComponentChildren } from "preact";

interface DemonstrationProps {
  controls: ComponentChildren;
  children: ComponentChildren;
  readings: { label: string; value: string; tone?: string }[];
}

export function Demonstration({ controls, children, readings }: DemonstrationProps) {
  return (
    <div class="demonstration">
      <div class="stack demonstration-controls">{controls}</div>
      <div class="stack">
        {children}
        <dl class="readings" aria-live="polite">
          {readings.map(({ label, value, tone }) => <div key={label}><dt>{label}</dt><dd class={`number ${tone ? `tone-${tone}` : ""}`}>{value}</dd></div>)}
        </dl>
      </div>
    </div>
  );
}

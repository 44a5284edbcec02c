// A half-circle gauge: how much of a grant is gone.
interface GaugeProps {
  share: number;
  label: string;
  value: string;
  caption: string;
  unlimited?: boolean;
}

const radius = 70;
const length = Math.PI * radius;

export function Gauge({ share, label, value, caption, unlimited }: GaugeProps) {
  const tone = share >= 0.999 ? "gauge-spent" : share > 0.75 ? "gauge-low" : "";
  return (
    <svg class={`chart gauge ${tone}`} viewBox="0 0 180 112" role="img" aria-label={label}>
      <path d="M20 92a70 70 0 0 1 140 0" class="gauge-track" {...(unlimited ? { "stroke-dasharray": "4 6", "stroke-linecap": "butt" as const } : { "stroke-linecap": "round" as const })} />
      {share > 0 && <path d="M20 92a70 70 0 0 1 140 0" class="gauge-fill" stroke-dasharray={`${Math.max(2, share * length)} ${length * 2}`} />}
      <text x="90" y="78" text-anchor="middle" class="gauge-value">{value}</text>
      <text x="90" y="99" text-anchor="middle">{caption}</text>
    </svg>
  );
}

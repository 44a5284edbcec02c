// Labelled inputs. Every control has a visible label and, where there is help, is described by it.
import type { ComponentChildren, JSX } from "preact";
import { useId } from "preact/hooks";

type InputProps = Omit<JSX.InputHTMLAttributes<HTMLInputElement>, "label"> & { label: string; help?: ComponentChildren };

export function Field({ label, help, ...input }: InputProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input id={id} {...input} {...(help ? { "aria-describedby": `${id}-help` } : {})} />
      {help && <span class="help" id={`${id}-help`}>{help}</span>}
    </div>
  );
}

interface SelectProps {
  label: string;
  value: string;
  options: readonly { value: string; label: string }[];
  onValue: (value: string) => void;
}

export function Select({ label, value, options, onValue }: SelectProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => onValue(event.currentTarget.value)}>
        {options.map((option) => <option key={option.value} value={option.value}>{option.label}</option>)}
      </select>
    </div>
  );
}

interface SliderProps {
  label: string;
  value: number;
  low: number;
  high: number;
  step?: number;
  /** Equal ratios take equal room. */
  logarithmic?: boolean;
  show: (value: number) => string;
  /** The value stands beside it already. */
  valueElsewhere?: boolean;
  onValue: (value: number) => void;
}

const positions = 400;

export function Slider({ label, value, low, high, step, logarithmic, show, valueElsewhere, onValue }: SliderProps) {
  const id = useId();
  const toPosition = (v: number) => (logarithmic ? (positions * Math.log(v / low)) / Math.log(high / low) : v);
  const fromPosition = (p: number) => (logarithmic ? Number((low * (high / low) ** (p / positions)).toPrecision(2)) : p);
  return (
    <div class="field">
      <div class="spread">
        <label for={id} class="label">{label}</label>
        {!valueElsewhere && <output for={id} class="number slider-value">{show(value)}</output>}
      </div>
      <input
        id={id} type="range" aria-valuetext={show(value)}
        min={logarithmic ? 0 : low} max={logarithmic ? positions : high} step={logarithmic ? 1 : (step ?? 1)}
        value={toPosition(value)} onInput={(event) => onValue(fromPosition(Number(event.currentTarget.value)))}
      />
    </div>
  );
}

interface SegmentsProps<T extends string> {
  label: string;
  value: T;
  options: readonly { value: T; label: string }[];
  onValue: (value: T) => void;
}

export function Segments<T extends string>({ label, value, options, onValue }: SegmentsProps<T>) {
  return (
    <div class="segments" role="group" aria-label={label}>
      {options.map((option) => (
        <button key={option.value} type="button" aria-pressed={option.value === value} onClick={() => onValue(option.value)}>
          {option.label}
        </button>
      ))}
    </div>
  );
}

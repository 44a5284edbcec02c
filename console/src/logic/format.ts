// Numbers as people read them. A released number shows only the digits its error leaves meaningful.
import type { Amount, Cell } from "../api/types";

const minus = "\u2212";
const plain = new Intl.NumberFormat("en-US", { maximumFractionDigits: 20 });

function withMinus(text: string): string {
  return text.replace("-", minus);
}

/** Decimals worth showing beside an error of this size: two significant digits of the error. */
export function decimalsFor(error: number): number {
  if (!Number.isFinite(error) || error <= 0) return 0;
  return Math.max(0, Math.min(12, 1 - Math.floor(Math.log10(error))));
}

export function formatNumber(value: number, decimals?: number): string {
  if (!Number.isFinite(value)) return withMinus(String(value));
  if (decimals !== undefined)
    return withMinus(value.toLocaleString("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals }));
  if (value !== 0 && (Math.abs(value) < 1e-4 || Math.abs(value) >= 1e15)) return formatPower(value);
  return withMinus(plain.format(Number(value.toPrecision(6))));
}

/** Very small and very large numbers as they are typed in SQL and on the command line: 7.5e-8. */
export function formatPower(value: number): string {
  const [mantissa = "", exponent = "0"] = value.toExponential(2).split("e");
  return `${Number(mantissa)}e${Number(exponent)}`;
}

/** A released value; whole numbers stay whole whatever their error. */
export function formatValue(value: number, error: number | null): string {
  if (error === null || Number.isInteger(value)) return formatNumber(value);
  return formatNumber(value, Math.min(decimalsFor(error), 6));
}

/** Three digits, as the command line has it. */
export function formatError(error: number): string {
  return `±${formatNumber(Number(error.toPrecision(3)))}`;
}

export function formatCell(cell: Cell): string {
  if (cell === null) return "null";
  if (typeof cell === "number") return formatNumber(cell);
  if (Array.isArray(cell)) return cell.map((part) => formatCell(part as Cell)).join(", ");
  return String(cell);
}

export function formatEpsilon(amount: Amount): string {
  if (amount === "unlimited") return "unlimited";
  if (amount !== 0 && Math.abs(amount) < 0.001) return formatPower(amount);
  return formatNumber(Number(amount.toPrecision(3)));
}

export function formatDelta(amount: Amount): string {
  if (amount === "unlimited") return "unlimited";
  return amount === 0 ? "0" : formatPower(amount);
}

/** A part of a grant: "0.5 of 2", or without limit just the part. */
export function formatPart(part: Amount, granted: Amount, format: (amount: Amount) => string): string {
  if (granted === "unlimited") return part === "unlimited" ? "no limit of its own" : format(part);
  return `${format(part)} of ${format(granted)}`;
}

/** The server writes times as seconds since 1970 or in ISO form. */
export function parseTime(time: string | number): Date {
  if (typeof time === "string") return new Date(time);
  if (time > 1e14) return new Date(time / 1000);
  return new Date(time > 1e11 ? time : time * 1000);
}

export function formatTime(time: string | number): string {
  const date = parseTime(time);
  if (Number.isNaN(date.getTime())) return String(time);
  return date.toLocaleString("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
}

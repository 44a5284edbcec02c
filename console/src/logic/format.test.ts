import { describe, expect, it } from "vitest";
import { decimalsFor, formatDelta, formatEpsilon, formatError, formatNumber, formatPart, formatValue, parseTime } from "./format";

describe("numbers as people read them", () => {
  it("shows a released mean only to the digits its error leaves meaningful", () => {
    expect(formatValue(28812.401995, 1340)).toBe("28,812");
    expect(formatValue(3.14159265, 0.021)).toBe("3.142");
    expect(formatValue(-0.5, 0.3)).toBe("\u22120.50");
  });
  it("keeps whole numbers whole", () => expect(formatValue(10243, 0.001)).toBe("10,243"));
  it("writes small deltas as powers of ten", () => {
    expect(formatDelta(1e-7)).toBe("1e-7");
    expect(formatDelta(7.5e-8)).toBe("7.5e-8");
    expect(formatDelta(0)).toBe("0");
  });
  it("never rounds an epsilon to nothing", () => {
    expect(formatEpsilon(0.0004)).toBe("4e-4");
    expect(formatEpsilon(3.5999999999999996)).toBe("3.6");
    expect(formatEpsilon("unlimited")).toBe("unlimited");
  });
  it("writes errors with three digits", () => {
    expect(formatError(27.7065)).toBe("±27.7");
    expect(formatError(9799.8)).toBe("±9,800");
    expect(formatError(0.0123)).toBe("±0.0123");
  });
  it("takes two significant digits of the error", () => {
    expect(decimalsFor(0.021)).toBe(3);
    expect(decimalsFor(1340)).toBe(0);
    expect(decimalsFor(0)).toBe(0);
  });
  it("says what part of a grant, and does not speak of a part of no limit", () => {
    expect(formatPart(0.5, 2, formatEpsilon)).toBe("0.5 of 2");
    expect(formatPart(0.5, "unlimited", formatEpsilon)).toBe("0.5");
    expect(formatPart("unlimited", "unlimited", formatEpsilon)).toBe("no limit of its own");
  });
  it("writes minus as a minus", () => expect(formatNumber(-12.5)).toBe("\u221212.5"));
  it("reads seconds, milliseconds, microseconds and ISO times alike", () => {
    const expected = Date.UTC(2026, 10, 15, 16, 0, 0);
    for (const time of [expected / 1000, expected, expected * 1000, "2026-11-15T16:00:00Z"])
      expect(parseTime(time).getTime()).toBe(expected);
  });
});

import { describe, expect, it } from "vitest";
import { linearScale, linearTicks, logScale, logTicks, niceDomain, tickLabel, valueDomain } from "./scale";

describe("axes", () => {
  it("puts ticks on round numbers", () => {
    expect(linearTicks(0, 1, 5)).toEqual([0, 0.2, 0.4, 0.6, 0.8, 1]);
    expect(linearTicks(-3, 17, 4)).toEqual([0, 5, 10, 15]);
  });
  it("survives a domain of one point", () => {
    expect(linearTicks(4, 4, 5)).toEqual([4]);
    expect(linearScale([4, 4], [0, 100])(4)).toBe(50);
  });
  it("widens to whole steps", () => expect(niceDomain(3, 97)).toEqual([0, 100]));
  it("spends no whole step on a whisker that reaches a little below zero", () => {
    expect(valueDomain(-5, 4700)).toEqual([-5, 5000]);
    expect(valueDomain(-1900, 4700)).toEqual([-2000, 6000]);
  });
  it("maps ends to ends on a log axis", () => {
    const scale = logScale([0.01, 10], [0, 300]);
    expect(scale(0.01)).toBeCloseTo(0);
    expect(scale(10)).toBeCloseTo(300);
    expect(scale(1)).toBeCloseTo(200);
  });
  it("has fewer log ticks the wider the axis", () => {
    expect(logTicks(0.1, 1)).toEqual([0.1, 0.2, 0.5, 1]);
    expect(logTicks(1e-3, 1e3)).toEqual([1e-3, 1e-2, 1e-1, 1, 10, 100, 1000]);
  });
  it("shortens large labels", () => {
    expect(tickLabel(12000)).toBe("12k");
    expect(tickLabel(2.5e6)).toBe("2.5M");
    expect(tickLabel(-500)).toBe("\u2212500");
  });
});

import { describe, expect, it } from "vitest";
import { guessBound } from "../lab/two_worlds";
import * as bounds from "./bounds";
import { modulus, shareAll, totals } from "./shares";

describe("the formulas of the Learn page", () => {
  it("move a belief by at most e^epsilon in odds, and not at all at epsilon 0", () => {
    const { low, high } = bounds.posteriorBounds(0.3, 1);
    const odds = (p: number) => p / (1 - p);
    expect(odds(high) / odds(0.3)).toBeCloseTo(Math.E);
    expect(odds(0.3) / odds(low)).toBeCloseTo(Math.E);
    expect(bounds.posteriorBounds(0.3, 0)).toEqual({ low: 0.3, high: 0.3 });
    expect(bounds.posteriorBounds(0.5, 2).high).toBeCloseTo(guessBound(2));
  });
  it("put the curator ahead of local answers, by more the more people there are", () => {
    const ratio = (n: number) => bounds.localError95(n, 1) / bounds.curatorError95(n, 1);
    expect(ratio(10_000) / ratio(100)).toBeCloseTo(10);
    expect(bounds.localError95(1000, 1)).toBeGreaterThan(bounds.samplingError95(1000));
  });
  it("put Laplace ahead for few counts and Gaussian for many", () => {
    expect(bounds.laplaceWorstOf(1, 1)).toBeLessThan(bounds.gaussianWorstOf(1, 1, 1e-6));
    expect(bounds.laplaceWorstOf(1000, 1)).toBeGreaterThan(10 * bounds.gaussianWorstOf(1000, 1, 1e-6));
  });
  it("turn rho into epsilon and back", () => {
    const rho = bounds.rhoFor(1, 1e-6);
    expect(rho + 2 * Math.sqrt(rho * Math.log(1e6))).toBeCloseTo(1, 10);
  });
  it("compose: concentrated below advanced below basic for many small losses", () => {
    const [basic, advanced, concentrated] = [bounds.basicComposition(1000, 0.01), bounds.advancedComposition(1000, 0.01, 1e-6), bounds.concentratedComposition(1000, 0.01, 1e-6)];
    expect(concentrated).toBeLessThan(advanced);
    expect(advanced).toBeLessThan(basic);
  });
  it("choose by score, within e^epsilon when one person changes a score", () => {
    const [before, after] = [bounds.exponentialChoice([5, 3, 1], 1), bounds.exponentialChoice([4, 3, 1], 1)];
    expect(before.reduce((sum, p) => sum + p, 0)).toBeCloseTo(1);
    before.forEach((p, i) => expect(Math.abs(Math.log(p / after[i]!))).toBeLessThanOrEqual(1));
    expect(bounds.exponentialChoice([1e6, 0], 1)).toEqual([1, 0]);
    expect(bounds.exponentialShortfall(4, 1)).toBeCloseTo(2 * Math.log(80));
  });
  it("amplify: a small share of the people loses about that share of epsilon", () => {
    expect(bounds.amplified(1, 0.7)).toBeCloseTo(0.7);
    expect(bounds.amplified(0.01, 1)).toBeCloseTo(0.01704, 4);
  });
});

describe("two servers", () => {
  it("add up to the true sum, while every share alone is a random number", () => {
    const shared = shareAll([3, 10, 0, 7], 10, 5);
    expect(totals(shared).sum).toBe(20);
    for (const { value, first, second } of shared) expect((first + second) % modulus).toBe(value);
    const other = shareAll([3, 10, 0, 7], 10, 6);
    expect(other.map((one) => one.first)).not.toEqual(shared.map((one) => one.first));
  });
  it("leave out who does not keep to the rules", () => {
    const shared = shareAll([3, 500, 2.5, -1], 10, 5);
    expect(shared.map((one) => one.accepted)).toEqual([true, false, false, false]);
    expect(totals(shared).sum).toBe(3);
  });
});

// Statistics here have fixed seeds; the bounds are at least six standard errors wide, so that a correct
// simulation fails for fewer than one seed in 10^8.
import { describe, expect, it } from "vitest";
import { averagingRun } from "./averaging";
import { attack, neighbourhood, successRate } from "./differencing";
import { gaussian, laplace, seededUniform } from "./random";
import { estimate, survey, truthProbability } from "./randomized_response";
import { normalCdf, predictedAccuracy, reconstruct, solveSymmetric } from "./reconstruction";
import { guessBound, histogram, laplaceError95, simulateTwoWorlds } from "./two_worlds";

describe("noise for demonstrations", () => {
  it("has the spread it is drawn with", () => {
    const uniform = seededUniform(1);
    const n = 40_000;
    let [l, g] = [0, 0];
    for (let i = 0; i < n; ++i) {
      l += Math.abs(laplace(uniform, 3)) / n;
      g += gaussian(uniform, 3) ** 2 / n;
    }
    expect(Math.abs(l - 3)).toBeLessThan((6 * 3) / Math.sqrt(n));
    expect(Math.abs(g - 9)).toBeLessThan((6 * 9 * Math.SQRT2) / Math.sqrt(n));
  });
  it("stays within the stated error 95 times in 100", () => {
    const { with: answers } = simulateTwoWorlds(1000, 0.2, 20_000, 7);
    const inside = answers.filter((value) => Math.abs(value - 1000) <= laplaceError95(0.2) + 0.5).length / 20_000;
    expect(Math.abs(inside - 0.953)).toBeLessThan(0.012);
  });
  it("keeps every value in the bin it belongs to", () => {
    const bins = histogram([0, 0.5, 1, 2.9, 3, -1], 0, 3, 3);
    expect(bins.map((bin) => bin.count)).toEqual([2, 1, 1]);
  });
});

describe("randomized response", () => {
  it("is ln 3 private when three answers in four are true", () => expect(truthProbability(Math.log(3))).toBeCloseTo(0.75));
  it("has the share of yes it was asked to have", () =>
    expect(survey(1000, 0.3, 1, 3).truth.filter(Boolean)).toHaveLength(300));
  it("estimates the share without bias, within its stated error", () => {
    const people = 50_000;
    const result = survey(people, 0.3, 1, 11);
    expect(Math.abs(result.estimate - 0.3)).toBeLessThan(6 * result.standardError);
    expect(estimate(0.25 * 1000, 1000, 0.75).estimate).toBeCloseTo(0);
    expect(estimate(0.75 * 1000, 1000, 0.75).estimate).toBeCloseTo(1);
  });
});

describe("differencing", () => {
  it("always finds the secret in exact answers", () => {
    expect(successRate(null, 2000, 5)).toBe(1);
    const street = neighbourhood(24, 1);
    const uniform = seededUniform(1);
    for (let i = 0; i < street.length; ++i) expect(attack(street, i, null, uniform).right).toBe(true);
  });
  it("stays below the bound of the guarantee against private ones", () => {
    for (const epsilon of [0.1, 0.5, 1, 2]) {
      const slack = 6 * Math.sqrt(0.25 / 20_000);
      expect(successRate(epsilon, 20_000, 13)).toBeLessThanOrEqual(guessBound(epsilon) + slack);
    }
  });
  it("would be caught if the noise were eight times too small", () => {
    const slack = 6 * Math.sqrt(0.25 / 20_000);
    expect(successRate(8 * 0.5, 20_000, 13)).toBeGreaterThan(guessBound(0.5) + slack);
  });
});

describe("reconstruction", () => {
  it("solves symmetric systems", () => {
    const x = solveSymmetric(Float64Array.from([4, 0, 2, 3]), Float64Array.from([10, 8]), 2);
    expect(x[0]).toBeCloseTo(1.75, 4);
    expect(x[1]).toBeCloseTo(1.5, 4);
  });
  it("recovers every bit from exact counts and little from noise far above sqrt(n)", () => {
    expect(reconstruct(64, 256, 0, 3).accuracy).toBe(1);
    expect(reconstruct(64, 256, 0.1 * 8, 3).accuracy).toBeGreaterThan(0.95);
    expect(reconstruct(64, 256, 6 * 8, 3).accuracy).toBeLessThan(0.85);
  });
  it("follows the law of least squares", () => {
    for (const ratio of [0.25, 0.5, 1]) {
      let mean = 0;
      for (let seed = 0; seed < 12; ++seed) mean += reconstruct(64, 256, ratio * 8, seed).accuracy / 12;
      expect(Math.abs(mean - predictedAccuracy(64, 256, ratio * 8))).toBeLessThan(6 * Math.sqrt(0.25 / (64 * 12)));
    }
  });
  it("knows the normal law", () => {
    expect(normalCdf(0)).toBeCloseTo(0.5, 6);
    expect(normalCdf(1.959964)).toBeCloseTo(0.975, 6);
    expect(normalCdf(-1)).toBeCloseTo(0.158655, 5);
  });
});

describe("averaging", () => {
  it("homes in on the secret with fresh noise, and learns nothing from a repeated answer", () => {
    const run = averagingRun(500, 0.1, 4000, 2);
    expect(Math.abs(run.fresh[3999]! - 500)).toBeLessThan((6 * 10 * Math.SQRT2) / Math.sqrt(4000));
    expect(new Set(run.repeated).size).toBe(1);
  });
});

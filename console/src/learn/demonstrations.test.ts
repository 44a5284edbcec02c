import { describe, expect, it } from "vitest";
import * as demos from "./demonstrations";

describe("the formulas of the steps about data", () => {
  it("have the sensitivities that docs/inference.md attains", () => {
    expect(demos.sensitivities.mean(5)).toBeCloseTo(0.2);
    expect(demos.sensitivities["standard deviation"](5)).toBeCloseTo(0.4);
    expect(demos.sensitivities["maximum, median"]()).toBe(1);
  });
  it("count who is one of k alike as a draw of all people does", () => {
    // Two people, one column of two values: alike half of the time.
    expect(demos.kAnonymous(2, 1, 2, 2)).toBeCloseTo(0.5);
    expect(demos.kAnonymous(3, 1, 2, 3)).toBeCloseTo(0.25);
    expect(demos.kAnonymous(10_000, 1, 2, 5)).toBeCloseTo(1);
    expect(demos.kAnonymous(10_000, 12, 10, 2)).toBeLessThan(1e-6);
    for (let c = 1; c < 12; ++c) expect(demos.kAnonymous(10_000, c + 1, 5, 5)).toBeLessThanOrEqual(demos.kAnonymous(10_000, c, 5, 5));
  });
  it("find nobody beyond what epsilon allows", () => {
    for (const epsilon of [0.1, 0.5, 1, 2, 4, 8])
      for (const people of [20, 200, 10_000])
        for (const attributes of [10, 1000, 100_000])
          expect(demos.memberFound(attributes, people, epsilon, 1e-6)).toBeLessThanOrEqual(demos.memberBound(epsilon, 1e-6));
    expect(demos.memberFound(100_000, 200, null, 1e-6)).toBeGreaterThan(0.99);
    expect(demos.memberFound(10, 10_000, null, 1e-6)).toBeCloseTo(0.05, 1);
  });
  it("let running totals grow with the root of the days, with a logarithm, and with a smaller one", () => {
    expect(demos.streams.anew(400, 1, 1e-6) / demos.streams.anew(100, 1, 1e-6)).toBeCloseTo(2);
    expect(demos.streams.tree(1024, 1, 1e-6) / demos.streams.tree(1, 1, 1e-6)).toBeCloseTo(11);
    expect(demos.rootFactor(1)).toBe(1);
    expect(demos.rootFactor(2)).toBeCloseTo(1.25);
    expect(demos.rootFactor(3)).toBeCloseTo(1.25 + (3 / 8) ** 2);
    // The logarithm that continues the sum meets it where it begins.
    expect(demos.rootFactor(2001) - demos.rootFactor(2000)).toBeCloseTo(1 / (Math.PI * 2000), 6);
    for (const days of [8, 100, 1000]) expect(demos.streams.root(days, 1, 1e-6)).toBeLessThan(demos.streams.tree(days, 1, 1e-6));
  });
  it("ask for more people with privacy, and for as many more as epsilon is smaller where the choice decides", () => {
    expect(demos.peopleToLearn(1000, 0.05, 0.1)).toBeGreaterThan(demos.peopleToLearn(1000, 0.05, null));
    expect(demos.peopleToLearn(1000, 0.3, 0.001) / demos.peopleToLearn(1000, 0.3, 0.01)).toBeCloseTo(10);
  });
  it("post better prices with more bidders, and the best half way", () => {
    expect(demos.takings(50)).toBe(1);
    expect(demos.expectedTakings(5000, 1)).toBeGreaterThan(0.99);
    expect(demos.expectedTakings(100, 1e-9)).toBeCloseTo(2 / 3, 2);
  });
  it("know what setting negative towns to zero does to the total", () => {
    // The mean of max(0, s + Laplace(b)) is s + (b / 2) e^(-s / b).
    const [size, epsilon] = [3, 0.5];
    let mean = 0;
    for (let i = 0; i < 200_000; ++i) {
      const u = (i + 0.5) / 200_000 - 0.5;
      mean += Math.max(0, size - Math.sign(u) * Math.log(1 - 2 * Math.abs(u)) / epsilon) / 200_000;
    }
    expect(demos.clippedTotalBias(1, size, epsilon)).toBeCloseTo(mean - size, 3);
    expect(demos.negativeShare(0, 1)).toBe(0.5);
  });
});

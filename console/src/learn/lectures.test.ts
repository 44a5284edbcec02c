import { describe, expect, it } from "vitest";
import * as lectures from "./lectures";

describe("the formulas of the lectures' steps", () => {
  it("favour the curator for few questions and randomized response for many", () => {
    expect(lectures.linearLaplace(1, 10_000, 1)).toBeLessThan(lectures.linearResponse(1, 10_000, 1));
    expect(lectures.linearLaplace(2000, 10_000, 1)).toBeGreaterThan(lectures.linearResponse(2000, 10_000, 1));
    // What `discreet lecture linear --queries 100 --people 10000` prints.
    expect(lectures.linearLaplace(100, 10_000, 1)).toBeCloseTo(0.076, 4);
    expect(lectures.linearResponse(100, 10_000, 1)).toBeCloseTo(0.0441, 4);
  });
  it("divide Laplace's error by n and randomized response's by its root", () => {
    expect(lectures.linearLaplace(5, 100, 1) / lectures.linearLaplace(5, 10_000, 1)).toBeCloseTo(100);
    expect(lectures.linearResponse(5, 100, 1) / lectures.linearResponse(5, 10_000, 1)).toBeCloseTo(10);
  });
  it("give the loss of a hundred answers its exact tail, below Azuma's bound", () => {
    // What `discreet lecture loss --epsilon 0.1 --times 100` prints.
    expect(lectures.lossMean(100, 0.1)).toBeCloseTo(0.4996, 4);
    expect(lectures.lossTail(100, 0.1, 4.774568)).toBeCloseTo(8.55e-6, 7);
    for (const x of [1, 2, 4, 6]) expect(lectures.lossTail(100, 0.1, x)).toBeLessThanOrEqual(lectures.azumaTail(100, 0.1, x));
    expect(lectures.lossTail(100, 0.1, 10)).toBe(0);
    expect(lectures.lossTail(100, 0.1, -11)).toBeCloseTo(1, 9);
  });
  it("let the smoker's premium rise nearly as often without her", () => {
    const [here, gone] = [lectures.studyConcludes(400, 0.2, true), lectures.studyConcludes(400, 0.2, false)];
    expect(here / gone).toBeLessThan(Math.exp(0.2));
    expect(lectures.studyConcludes(5000, 1, false)).toBeGreaterThan(0.999);
  });
  it("know the normal distribution", () => {
    expect(lectures.normal(0)).toBeCloseTo(0.5, 6);
    expect(lectures.normal(1.959964)).toBeCloseTo(0.975, 6);
    expect(lectures.normal(-3)).toBeCloseTo(0.0013499, 6);
  });
  it("make overfitting grow with the features and shrink with the people", () => {
    expect(lectures.bestOfCoins(500, 200)).toBeGreaterThan(lectures.bestOfCoins(50, 200));
    expect(lectures.bestOfCoins(500, 200)).toBeCloseTo(0.1246, 3);
    expect(lectures.privateOptimism(0.1)).toBeCloseTo(0.10517, 4);
    expect(lectures.sparseError(1000, 3, 1)).toBeLessThan(10_000);
  });
});

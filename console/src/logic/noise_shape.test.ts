import { describe, expect, it } from "vitest";
import { epsilonLadder, familyOf, noiseCurve, relativeDensity } from "./noise_shape";

/** Share of the curve's mass within the error, by the trapezium rule over a wide reach. */
function massWithin(family: "laplace" | "gaussian", error95: number): number {
  const curve = noiseCurve(family, error95, error95 * 8, 8000);
  let [inside, all] = [0, 0];
  for (const { x, y } of curve) {
    all += y;
    if (Math.abs(x) <= error95) inside += y;
  }
  return inside / all;
}

describe("the picture of the noise", () => {
  it("has 95 % of its mass within the stated error", () => {
    expect(massWithin("laplace", 27.7)).toBeCloseTo(0.95, 2);
    expect(massWithin("gaussian", 27.7)).toBeCloseTo(0.95, 2);
  });
  it("is a spike where there is no noise", () => {
    expect(relativeDensity("laplace", 0, 0)).toBe(1);
    expect(relativeDensity("laplace", 0, 0.1)).toBe(0);
  });
  it("knows a Gaussian by its name", () => {
    expect(familyOf("discrete Gaussian")).toBe("gaussian");
    expect(familyOf("discrete Laplace")).toBe("laplace");
    expect(familyOf(null)).toBe("laplace");
  });
  it("puts the epsilon in hand among the compared ones, once", () => {
    expect(epsilonLadder(0.3)).toEqual([0.05, 0.1, 0.2, 0.3, 0.5, 1, 2]);
    expect(epsilonLadder(0.5)).toEqual([0.05, 0.1, 0.2, 0.5, 1, 2]);
  });
});

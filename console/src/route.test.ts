import { describe, expect, it } from "vitest";
import { pagesFor, parseRoute } from "./route";

describe("routes", () => {
  it("read a page and the rest of the address", () => {
    expect(parseRoute("#/data/visits")).toEqual({ page: "data", rest: "visits" });
    expect(parseRoute("#/data/a%20b")).toEqual({ page: "data", rest: "a b" });
  });
  it("fall back to asking", () => {
    for (const hash of ["", "#", "#/nowhere", "#/data%"]) expect(parseRoute(hash).page).toBe("ask");
    expect(parseRoute("#/data/%E0%A4%A").rest).toBe("");
  });
  it("show the owner's page to the owner only", () => {
    expect(pagesFor("analyst").map((page) => page.name)).not.toContain("owner");
    expect(pagesFor("owner").map((page) => page.name)).toContain("owner");
  });
});

import { expect, it } from "vitest";
import type { Answer } from "../api/types";
import { toCsv } from "./csv";

it("writes errors beside released columns, empty fields for null, and quotes what needs it", () => {
  const answer: Answer = {
    columns: [{ name: "a,b", type: "", error95: null }, { name: "n", type: "", error95: 5 }],
    rows: [['say "hi"', 3], [null, 4]], errors: [[null, 2], [null, null]],
    cost: { epsilon: 1, delta: 0 }, remaining: { epsilon: 1, delta: 0 }, repeated: false, receipt: "", notices: [],
  };
  expect(toCsv(answer)).toBe('"a,b",n,n_error95\r\n"say ""hi""",3,2\r\n,4,5\r\n');
});

import { describe, expect, it } from "vitest";
import type { Account, LedgerEvent } from "../api/types";
import { accountTree, shareSpent, spendable, spendingByAccount } from "./spending";

const event = (sequence: number, kind: string, account: string, epsilon?: number): LedgerEvent => ({
  sequence, time: 1000 + sequence, kind, account, hash: "", ...(epsilon === undefined ? {} : { cost: { epsilon, delta: 0 } }),
});
const account = (name: string, parent: string | null, left: number | "unlimited"): Account => ({
  name, parent, epsilon: { granted: 4, spent: 0, left }, delta: { granted: 0, spent: 0, left: 0 },
});

describe("spending", () => {
  it("adds up charges per account, oldest first, and nothing else", () => {
    const lines = spendingByAccount([event(5, "charge", "a", 0.3), event(2, "charge", "a", 0.2), event(3, "release", "a"), event(4, "charge", "b", 1)]);
    expect(lines.get("a")?.map((point) => point.spent)).toEqual([0.2, 0.5]);
    expect(lines.get("b")).toHaveLength(1);
  });
  it("shows how much of a grant is gone", () => {
    expect(shareSpent(1, 4)).toBe(0.25);
    expect(shareSpent(9, 4)).toBe(1);
    expect(shareSpent(9, "unlimited")).toBe(0);
    expect(shareSpent(0, 0)).toBe(0);
  });
  it("puts analysts under the dataset they draw on, and shows an orphan by itself", () => {
    const tree = accountTree([account("default", null, 4), account("alice", "default", 1), account("bob", "unseen", 1)]);
    expect(tree.map((node) => [node.account.name, node.children.map((child) => child.name)])).toEqual([["default", ["alice"]], ["bob", []]]);
  });
  it("lets an analyst spend no more than the dataset has left", () => {
    const accounts = [account("default", null, 0.5), account("alice", "default", 1)];
    expect(spendable(accounts, "alice")).toBe(0.5);
    expect(spendable([account("x", null, "unlimited")], "x")).toBe("unlimited");
    expect(spendable([account("x", "x", 2)], "x")).toBe(2);
  });
});

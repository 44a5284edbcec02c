// What was spent when, out of the ledger's events.
import type { Account, Amount, LedgerEvent } from "../api/types";
import { parseTime } from "./format";

export interface SpendingPoint {
  time: number;
  spent: number;
}

/** Running sums of epsilon per account, oldest first. These are plain sums: the ledger's filter may count less. */
export function spendingByAccount(events: LedgerEvent[]): Map<string, SpendingPoint[]> {
  const charges = events.filter((event) => event.kind === "charge" && event.cost).sort((a, b) => a.sequence - b.sequence);
  const result = new Map<string, SpendingPoint[]>();
  for (const event of charges) {
    const line = result.get(event.account) ?? [];
    const before = line.length > 0 ? line[line.length - 1]!.spent : 0;
    line.push({ time: parseTime(event.time).getTime(), spent: before + event.cost!.epsilon });
    result.set(event.account, line);
  }
  return result;
}

export function shareSpent(spent: number, granted: Amount): number {
  if (granted === "unlimited" || granted <= 0) return 0;
  return Math.min(1, Math.max(0, spent / granted));
}

export interface AccountTree {
  account: Account;
  children: Account[];
}

/** Datasets with the analysts who draw on them. An account whose parent is not shown stands for itself. */
export function accountTree(accounts: Account[]): AccountTree[] {
  const names = new Set(accounts.map((account) => account.name));
  const roots = accounts.filter((account) => !account.parent || !names.has(account.parent));
  return roots.map((account) => ({ account, children: accounts.filter((child) => child.parent === account.name) }));
}

/** The most a question may cost an account: its own rest, held by every account above it. */
export function spendable(accounts: Account[], name: string): Amount {
  let least: Amount = "unlimited";
  const seen = new Set<string>();
  for (let at: string | null = name; at !== null && !seen.has(at); ) {
    seen.add(at);
    const account: Account | undefined = accounts.find((candidate) => candidate.name === at);
    if (!account) break;
    const left = account.epsilon.left;
    if (left !== "unlimited" && (least === "unlimited" || left < least)) least = left;
    at = account.parent;
  }
  return least;
}

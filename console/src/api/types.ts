// The HTTP contract of `discreet serve`, as types. The server's own description is /openapi.json.

export type Amount = number | "unlimited";
export type Role = "analyst" | "owner";
export type Cell = string | number | boolean | null | readonly Cell[];

export interface Login {
  token: string;
  name: string;
  role: Role;
  expires: number;
}

export interface Me {
  name: string;
  role: Role;
  account: string;
}

export interface Column {
  name: string;
  type: string;
  range: [number | string, number | string] | null;
  values: (string | number | boolean)[] | null;
}

export interface Table {
  name: string;
  public: boolean;
  unit: string | null;
  link: string | null;
  max_rows_per_unit: number | null;
  /** A twin that a statement made: its rows are nobody's, and asking about it is free. */
  synthetic?: boolean;
  columns: Column[];
}

export interface Cost {
  epsilon: number;
  delta: number;
  rho?: number;
}

export interface ExplainedColumn {
  name: string;
  mechanism: string | null;
  error95: number | null;
  /** Where error95 waits for a bound that is found privately: the error for every row the bound lets one person add. */
  error95_per_row?: number | null;
}

export interface Explanation {
  cost: Cost;
  columns: ExplainedColumn[];
  remaining: { epsilon: Amount; delta: Amount };
  affordable?: boolean;
  notices: string[];
  plan?: string;
}

export interface Question {
  sql: string;
  epsilon?: number;
  delta?: number;
  idempotency_key?: string;
}

export interface AnswerColumn {
  name: string;
  type: string;
  error95: number | null;
}

export interface Answer {
  columns: AnswerColumn[];
  rows: Cell[][];
  errors: (number | null)[][] | null;
  cost: Cost;
  remaining: { epsilon: Amount; delta: Amount };
  repeated: boolean;
  receipt: string;
  notices: string[];
}

export interface Balance {
  granted: Amount;
  spent: number;
  left: Amount;
}

export interface Account {
  name: string;
  parent: string | null;
  epsilon: Balance;
  delta: Balance;
}

export interface LedgerEvent {
  sequence: number;
  time: string | number;
  kind: string;
  account: string;
  statement?: string | null;
  cost?: Cost | null;
  digest?: string | null;
  /** Of a release or a repeated answer: the charge that paid for it. */
  charge?: number | null;
  /** Of a grant: what the account may spend in all from then on. */
  granted?: { epsilon: Amount; delta: Amount } | null;
  hash: string;
}

export interface LedgerPage {
  events: LedgerEvent[];
  next: number | null;
}

export interface Analyst {
  name: string;
  of?: string | null;
  role?: Role;
  /** The policy file sets this one's share, so that it cannot be granted here. */
  in_policy?: boolean;
}

export interface NewAnalyst {
  name: string;
  password: string;
  epsilon: number;
  delta: number;
  of: string;
}

export interface Grant {
  account: string;
  epsilon: number;
  delta: number;
  note: string;
}

/** Randomised reports of one question, from people's devices. */
export interface Collection {
  name: string;
  reports: number;
  header: { oracle: string; epsilon: number; values?: number };
}

export interface Estimates {
  reports: number;
  rows: { value: string; estimate: number; stderr: number; low: number; high: number }[];
}

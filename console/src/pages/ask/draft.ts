// What stands on the Ask page. It outlives a visit to another page, but neither the tab nor the login.
import type { Asked } from "./result_panel";

interface Draft {
  sql: string;
  epsilon: number;
  asked: Asked | null;
}

const blank: Draft = { sql: "", epsilon: 0.5, asked: null };
export const draft: Draft = { ...blank };

export function forgetDraft(): void {
  Object.assign(draft, blank);
}

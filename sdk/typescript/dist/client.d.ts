import { type Oracle } from "./oracles.js";
import { type RandomSource } from "./random.js";
import { type Spec, type Value } from "./spec.js";
/** Where a budget is kept; `localStorage` fits. */
export interface BudgetStorage {
    getItem(key: string): string | null;
    setItem(key: string, value: string): void;
}
export declare class BudgetExhausted extends Error {
}
/** What a client's reports may cost their person together. It is stored before a report is handed out. */
export declare class ReportBudget {
    readonly total: number;
    private readonly storage?;
    private readonly key;
    private spentSoFar;
    private readonly paid;
    constructor(total: number, storage?: BudgetStorage | undefined, key?: string);
    get spent(): number;
    spend(epsilon: number): void;
    /** Pays once for a tag; later calls with the same one are free. */
    spendOnce(tag: string, epsilon: number): void;
    private record;
}
/** One line of a file or a batch: a JSON string of hexadecimal digits. */
export declare function reportLine(report: Uint8Array): string;
export declare class Client {
    private readonly budget;
    private readonly random;
    readonly spec: Spec;
    readonly oracle: Oracle;
    /** `header` is the collection's header line. */
    constructor(header: string, budget: ReportBudget, random?: RandomSource);
    /** One fresh report; it costs the collection's epsilon. Throws BudgetExhausted. */
    report(value: Value): Uint8Array;
    /** A report that may be asked for again and again: pays once for each different value. */
    reportLasting(value: Value, secret: Uint8Array): Uint8Array;
}

export type OracleName = "grr" | "sue" | "oue" | "the" | "she" | "blh" | "olh" | "hr" | "ss" | "cms" | "hcms" | "rappor" | "duchi" | "piecewise" | "hybrid" | "laplace" | "sample" | "split";
/** A person's value; of a record, the values of all attributes: in order, or by name. */
export type Value = string | number | readonly (string | number)[] | {
    readonly [attribute: string]: string | number;
};
export interface Spec {
    oracle: OracleName;
    /** Privacy loss of one report. */
    epsilon: number;
    /** How many values there are; 0 for open text and means. */
    values: number;
    labels: string[];
    name: string;
    cells: number;
    subset: number;
    threshold: number;
    hashes: number;
    width: number;
    cohorts: number;
    hashSeed: bigint;
    permanentEpsilon: number;
    range: [number, number];
    /** Of a record (`sample`, `split`); each has its name and its own epsilon. */
    attributes: Spec[];
    /** The header as it was read: lasting reports are bound to it. */
    line: string;
}
export declare function isMean(spec: Spec): boolean;
export declare function isRecord(spec: Spec): boolean;
/** Reads a header line; throws a RangeError that says what is wrong. */
export declare function parseHeader(line: string): Spec;
/** What a person's value is as the input of a report; throws when it is none of the collection's. */
export declare function inputOf(spec: Spec, value: Value): bigint;

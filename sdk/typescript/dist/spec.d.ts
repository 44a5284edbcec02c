export type OracleName = "grr" | "sue" | "oue" | "the" | "she" | "blh" | "olh" | "hr" | "ss" | "cms" | "hcms" | "rappor" | "duchi" | "piecewise" | "hybrid" | "laplace";
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
    /** The header as it was read: lasting reports are bound to it. */
    line: string;
}
export declare function isMean(spec: Spec): boolean;
/** Reads a header line; throws a RangeError that says what is wrong. */
export declare function parseHeader(line: string): Spec;
/** What a person's value is as the input of a report; throws when it is none of the collection's. */
export declare function inputOf(spec: Spec, value: string | number): bigint;

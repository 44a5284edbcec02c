export { BudgetExhausted, Client, ReportBudget, reportLine, type BudgetStorage } from "./client.js";
export { makeOracle, type Oracle, type Streams } from "./oracles.js";
export { SecureRandom, type RandomSource } from "./random.js";
export { inputOf, parseHeader, type OracleName, type Spec, type Value } from "./spec.js";

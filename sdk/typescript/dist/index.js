export { BudgetExhausted, Client, ReportBudget, reportLine } from "./client.js";
export { makeOracle } from "./oracles.js";
export { SecureRandom } from "./random.js";
export { inputOf, parseHeader } from "./spec.js";

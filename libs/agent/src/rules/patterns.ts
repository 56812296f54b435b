/** Which patterns of rules are valid, for configurations. Undefined: valid; else what is expected, for people. */
export { addressPatternProblem } from "./addressPatterns.ts"
export { commandPatternProblem } from "./commandPatterns.ts"
export { filePatternProblem } from "./filePatterns.ts"

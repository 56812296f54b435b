/** Programs that never outlive their owner, and what an owner that was killed left behind. */
export { isAlive, startOf } from "./identity.ts"
export { endLeftovers, markedProcesses } from "./leftovers.ts"
export { type Mark, variableOf } from "./Mark.ts"
export * from "./startGuarded.ts"
export { type PipedProcess, startPiped } from "./startPiped.ts"

/**
 * The thread of `fuzz.ts` that reads: a text that takes too long is ended with its thread, and one that takes too much
 * memory ends it.
 */
import { parentPort, workerData } from "node:worker_threads"
import { Schema } from "effect"
import { growthOf } from "./growth.ts"
import { pumpOf } from "./pump.ts"
import { isTarget, type Target, targets } from "./targets.ts"

/** The texts to read: those with the numbers `first` to `last` of the seed. */
export const Task = Schema.Struct({
  target: Schema.String,
  seed: Schema.Int,
  first: Schema.Int,
  last: Schema.Int,
  length: Schema.Int
})
export type Task = typeof Task.Type

const { first, last, length, seed, target } = Schema.decodeUnknownSync(Task)(workerData)
if (!isTarget(target)) throw new Error(`There is no target ${target}.`)
const { pieces, read }: Target = targets[target]

for (let number = first; number <= last; number++) {
  parentPort?.postMessage({ number })
  parentPort?.postMessage({ number, ...growthOf(read, pumpOf(pieces, seed, number), length) })
}

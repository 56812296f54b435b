/**
 * `npm run nightly -- fuzz [TARGET] [--count N] [--seed S]`: looks for texts that a reader takes more than linear time for, and
 * prints those that it finds as lines for `corpus.jsonl`. Exits with 1 if there are any.
 */
import { setTimeout } from "node:timers"
import { inspect, parseArgs } from "node:util"
import { Worker } from "node:worker_threads"
import { pumpOf } from "./pump.ts"
import type { Task } from "./reader.ts"
import { isTarget, type Target, type TargetName, targets } from "./targets.ts"

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { count: { type: "string", default: "300" }, seed: { type: "string", default: "1" } }
})
const seed = Number(values.seed)
const count = Number(values.count)

const longestText = 64 * 1024
/** A linear reader takes milliseconds. */
const longestMs = 60_000
const memoryMb = 512
/** Between linear and quadratic, far enough from both for a busy machine. */
const suspicious = 1.5

interface Slow {
  readonly number: number
  readonly what: string
}

/** Reads in one thread until it is done, or until one text stops it. */
const readSome = (task: Task, slow: (found: Slow) => void): Promise<number> =>
  new Promise((resolve) => {
    let current = task.first
    const thread = new Worker(new URL("reader.ts", import.meta.url), {
      workerData: task,
      resourceLimits: { maxOldGenerationSizeMb: memoryMb }
    })
    const stop = (what: string) => {
      slow({ number: current, what })
      void thread.terminate()
    }
    let limit: NodeJS.Timeout | undefined
    thread.on("message", ({ exponent, ms, number }) => {
      current = number
      clearTimeout(limit)
      limit = setTimeout(() => stop(`more than ${longestMs / 1000} s`), longestMs)
      if (exponent > suspicious) slow({ number, what: `${ms.toFixed(0)} ms, exponent ${exponent.toFixed(1)}` })
    })
    thread.on("error", (cause) => slow({ number: current, what: inspect(cause) }))
    thread.on("exit", () => {
      clearTimeout(limit)
      resolve(current + 1)
    })
  })

let found = 0
const fuzz = async (name: TargetName) => {
  const target: Target = targets[name]
  const length = Math.min(longestText, target.longest)
  const slow = ({ number, what }: Slow) => {
    found += 1
    const line = { target: name, ...pumpOf(target.pieces, seed, number), was: what }
    process.stdout.write(`${JSON.stringify(line)}\n`)
  }
  for (let next = 0; next < count; )
    next = await readSome({ target: name, seed, first: next, last: count - 1, length }, slow)
}

const [wanted] = positionals
if (wanted !== undefined && !isTarget(wanted)) throw new Error(`Targets are ${Object.keys(targets).join(", ")}.`)
for (const name of wanted === undefined ? Object.keys(targets).filter(isTarget) : [wanted]) await fuzz(name)
process.exitCode = found === 0 ? 0 : 1

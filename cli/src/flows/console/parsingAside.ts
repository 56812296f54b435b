/** Parses untrusted plans in a thread, each for a limited time: a small file can take long. */
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { Worker } from "node:worker_threads"
import type { ConsolePlan } from "@reprise/protocol"
import { Effect } from "effect"
import { meansToBePlan } from "./listedPlan.ts"

export interface PlanText {
  readonly path: string
  readonly text: string
}

export interface ParseAside {
  /** Undefined: it is no plan. One that takes more than `mostMs` of a processor is listed with that, if it means to be a plan. */
  readonly parse: (file: PlanText) => Effect.Effect<ConsolePlan | undefined>
}

/** The package has the thread in one file, which stands beside its other code. */
const script = (): string => {
  const source = fileURLToPath(new URL("planThread.ts", import.meta.url))
  return existsSync(source) ? source : fileURLToPath(new URL("../../../../bin/planThread.js", import.meta.url))
}

/** What a thread answers; undefined: it has ended, as one does that needs too much memory. */
type Answer = { readonly plan?: ConsolePlan } | undefined

const start = () => {
  const worker = new Worker(script(), { resourceLimits: { maxOldGenerationSizeMb: 256 } })
  worker.unref()
  const ended = new Promise<undefined>((resolve) => {
    for (const event of ["error", "exit"]) worker.on(event, () => resolve(undefined))
  })
  let receive: (answer: Answer) => void = () => undefined
  worker.on("message", (answer) => receive(answer))
  const next = () =>
    Promise.race([
      ended,
      new Promise<Answer>((resolve) => {
        receive = resolve
      })
    ])
  return { worker, next, ready: next() }
}

/** A thread may wait long for a processor, which counts little. */
const mostWaiting = 10
const lookEveryMs = 100

/** `late`: once the thread has used so much of a processor, or ten times as long has passed. */
const watchTime = (worker: Worker, mostMs: number) => {
  const began = performance.now()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    const before = worker.cpuUsage()
    const look = async () => {
      const { system, user } = await worker.cpuUsage(await before)
      const isLate = (system + user) / 1000 > mostMs || performance.now() - began > mostWaiting * mostMs
      if (isLate) resolve(undefined)
      else timer?.refresh()
    }
    // A thread that has ended tells nothing; that it has is noticed elsewhere.
    timer = setTimeout(() => void look().catch(() => undefined), Math.min(mostMs, lookEveryMs))
  })
  return { late, stop: () => clearTimeout(timer) }
}

const tooSlow = ({ path, text }: PlanText): ConsolePlan | undefined =>
  meansToBePlan(text)
    ? { path, phases: [], problem: "Reading it takes too long. Shorten it, or start it in a terminal." }
    : undefined

/** One after the other, in one thread, which is started when it is first needed and ends with the scope. */
export const makeParseAside = (mostMs: number) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync((): { thread?: ReturnType<typeof start> | undefined } => ({})),
      ({ thread }) => Effect.promise(async () => thread?.worker.terminate())
    ),
    (own): ParseAside => {
      const answerOf = async (file: PlanText): Promise<Answer> => {
        const thread = own.thread ?? start()
        own.thread = thread
        await thread.ready
        const watched = watchTime(thread.worker, mostMs)
        thread.worker.postMessage(file)
        const answer = await Promise.race([thread.next(), watched.late])
        watched.stop()
        if (answer !== undefined) return answer
        own.thread = undefined
        await thread.worker.terminate()
        return undefined
      }
      return {
        parse: (file) =>
          Effect.map(
            Effect.promise(() => answerOf(file)),
            (answer) => (answer === undefined ? tooSlow(file) : answer.plan)
          )
      }
    }
  )

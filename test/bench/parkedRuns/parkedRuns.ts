/**
 * The cost of many runs that work while nobody looks at the web console, of many that wait for a human in one `reprise up`, and the time until they wait again after a restart,
 * compared with the same system without runs. Linux only.
 */
import { performance } from "node:perf_hooks"
import { Messenger } from "@reprise/actor"
import { type RunId, RunView, SessionView } from "@reprise/protocol"
import { Effect, Schedule, Schema } from "effect"
import { idle, repositoryWith, say, started, startRun, talking } from "./system.ts"

const count = 200

const decodeViews = Schema.decodeUnknownEffect(Schema.Array(RunView))
const decodeSessions = Schema.decodeUnknownEffect(Schema.Array(SessionView))
const decodeView = Schema.decodeUnknownEffect(RunView)

const waiting = Effect.gen(function* () {
  const messenger = yield* Messenger
  const runs = yield* decodeViews(yield* messenger.query("orchestrator", "list", {}))
  return runs.filter(({ status }) => status === "waiting").length
})

const atWork = Effect.gen(function* () {
  const messenger = yield* Messenger
  const sessions = yield* decodeSessions(yield* messenger.query("session-manager", "list", {}))
  return sessions.filter(({ turnId }) => turnId !== undefined).length
})

const untilAllWork = atWork.pipe(
  Effect.repeat({ until: (now) => now === count, schedule: Schedule.spaced("250 millis") }),
  Effect.timeout("10 minutes")
)

const untilAllWait = waiting.pipe(
  Effect.repeat({ until: (now) => now === count, schedule: Schedule.spaced("250 millis") }),
  Effect.timeout("10 minutes")
)

/** Asks each run's actor, which loads its journal, whether it waits for a question. */
const askEach = (runs: ReadonlyArray<RunId>) =>
  Effect.forEach(
    runs,
    Effect.fnUntraced(function* (runId) {
      const messenger = yield* Messenger
      const run = yield* decodeView(yield* messenger.query("orchestrator", "show", { id: runId }))
      if (run.status !== "waiting" || run.escalationId === undefined) throw new Error(`${runId} is ${run.status}`)
    }),
    { concurrency: 32, discard: true }
  )

const floor = Effect.gen(function* () {
  const root = yield* repositoryWith(count)
  const { pid } = yield* started(root)
  yield* idle("no runs", pid)
}).pipe(Effect.scoped)

const startRuns = (root: string) =>
  Effect.forEach(
    Array.from({ length: count }, (_, n) => n),
    (n) => startRun(root, n)
  )

const working = Effect.gen(function* () {
  const root = yield* repositoryWith(count)
  const { pid } = yield* started(root, "working")
  const beganMs = performance.now()
  yield* talking(root, Effect.andThen(startRuns(root), untilAllWork))
  say(`${count} agents at work after ${((performance.now() - beganMs) / 1000).toFixed(0)} s`)
  yield* idle(`${count} runs at work`, pid)
}).pipe(Effect.scoped)

const restarted = Effect.fnUntraced(function* (root: string, runs: ReadonlyArray<RunId>) {
  const beganMs = performance.now()
  const system = yield* started(root)
  const servesMs = performance.now() - beganMs
  yield* talking(root, Effect.andThen(untilAllWait, askEach(runs)))
  const waitMs = performance.now() - beganMs
  say(`started again: serves after ${servesMs.toFixed(0)} ms, all ${count} wait again after ${waitMs.toFixed(0)} ms`)
  return system
})

const parked = Effect.gen(function* () {
  const root = yield* repositoryWith(count)
  const runs = yield* Effect.gen(function* () {
    const { pid } = yield* started(root)
    const beganMs = performance.now()
    const ids = yield* talking(
      root,
      Effect.tap(startRuns(root), () => untilAllWait)
    )
    say(`${count} runs brought to their question in ${((performance.now() - beganMs) / 1000).toFixed(0)} s`)
    yield* idle(`${count} parked runs`, pid)
    return ids
  }).pipe(Effect.scoped)
  const { pid } = yield* restarted(root, runs)
  yield* idle(`${count} parked runs, started again`, pid)
}).pipe(Effect.scoped)

const what =
  "CPU and resident memory of the host process, its nats-server and the two shells that guard it; agents in memory"

export const parkedRuns = (): Promise<void> => {
  say(what)
  return Effect.runPromise(Effect.andThen(floor, parked))
}

/** Wanted: below 5 % of one CPU. A host runs 64 turns at a time, and the others wait for their turn. */
export const liveRuns = (): Promise<void> => {
  say(what)
  return Effect.runPromise(Effect.andThen(floor, working))
}

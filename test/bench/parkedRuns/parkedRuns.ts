/**
 * The cost of many runs that work while nobody looks at the web console, of many that wait for a human in one `reprise up`, and the time until they wait again after a restart,
 * compared with the same system without runs. Linux only.
 */
import { execFileSync, spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { performance } from "node:perf_hooks"
import { ActorConfig, JetStreamBroker, Messenger } from "@reprise/actor"
import { attach, connectionTo, Nats } from "@reprise/nats"
import { makeRunId, type RunId, RunOptions, RunView, SessionView, to } from "@reprise/protocol"
import { Effect, Layer, Schedule, Schema } from "effect"
import { family, taken } from "./processes.ts"

const count = 200
const settleMs = 30_000
const watchedMs = 30_000

const host = new URL("host.ts", import.meta.url).pathname
const say = (line: string) => process.stdout.write(`${line}\n`)

const planPath = (n: number) => `plans/plan-${n}.md`
const planText = (n: number) => `# Plan ${n}\n\n## Phase 1: One\n\n- [ ] Choose a way\n`

/** A repository with a plan for each run. */
const repository = Effect.acquireRelease(
  Effect.sync(() => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), "reprise-parked-")))
    mkdirSync(join(root, "plans"))
    for (let n = 0; n < count; n++) writeFileSync(join(root, planPath(n)), planText(n))
    const git = (...args: ReadonlyArray<string>) => execFileSync("git", [...args], { cwd: root, stdio: "ignore" })
    git("init", "--initial-branch=main")
    git("config", "user.name", "Bench")
    git("config", "user.email", "bench@reprise.invalid")
    git("add", "--all")
    git("commit", "--message", "Start")
    return root
  }),
  (root) => Effect.sync(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }))
)

/** Starts the system with the compile cache, as the launcher does; completes when it serves. Closing the scope stops it. */
const started = (root: string, agents: "asking" | "working" = "asking") =>
  Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<{ readonly pid: number; readonly stop: () => Promise<void> }>((resolve, reject) => {
          const environment = { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), "node-compile-cache") }
          const child = spawn(process.execPath, [host, agents], {
            cwd: root,
            env: environment,
            stdio: ["ignore", "ignore", "pipe"]
          })
          const ended = new Promise<void>((done) => child.on("close", () => done()))
          const stop = async () => {
            child.kill("SIGTERM")
            await ended
          }
          let text = ""
          child.on("close", () => reject(new Error(`the host ended: ${text}`)))
          child.stderr.setEncoding("utf8").on("data", (more: string) => {
            text += more
            if (text.includes("Web console on ")) resolve({ pid: child.pid ?? -1, stop })
          })
        })
    ),
    ({ stop }) => Effect.promise(stop)
  )

/** Runs an effect as a client of the system, as any other process of the user would. */
const talking = <A, E>(root: string, effect: Effect.Effect<A, E, Messenger>) => {
  const connection = Layer.effect(
    Nats,
    Effect.flatMap(attach(join(root, ".reprise")), (endpoint) => Nats.make(connectionTo(endpoint, { name: "bench" })))
  )
  const broker = Layer.provideMerge(JetStreamBroker.layer, connection).pipe(Layer.provideMerge(ActorConfig.layer()))
  return Effect.provide(effect, Layer.fresh(Messenger.layer.pipe(Layer.provideMerge(broker))))
}

const decodeOptions = Schema.decodeSync(RunOptions)
const decodeViews = Schema.decodeUnknownEffect(Schema.Array(RunView))
const decodeSessions = Schema.decodeUnknownEffect(Schema.Array(SessionView))
const decodeView = Schema.decodeUnknownEffect(RunView)

const startRun = Effect.fnUntraced(function* (root: string, n: number) {
  const messenger = yield* Messenger
  const runId = makeRunId(Date.now(), crypto.randomUUID())
  yield* messenger.send(
    to.orchestrator(runId).StartRun({
      plan: planText(n),
      planPath: planPath(n),
      workspace: root,
      options: decodeOptions({ worktree: true })
    })
  )
  return runId
})

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

/** Measures processor time and memory of the idle system. */
const idle = Effect.fnUntraced(function* (name: string, pid: number) {
  yield* Effect.sleep(`${settleMs} millis`)
  const pids = family(pid)
  const before = pids.map(taken)
  const beganMs = performance.now()
  yield* Effect.sleep(`${watchedMs} millis`)
  const seconds = (performance.now() - beganMs) / 1000
  const after = pids.map(taken)
  const cpu = after.map(({ cpuSeconds }, n) => (100 * (cpuSeconds - (before[n]?.cpuSeconds ?? 0))) / seconds)
  const sum = (numbers: ReadonlyArray<number>) => numbers.reduce((all, one) => all + one, 0)
  const parts = after.map((one, n) => `${one.name} ${(cpu[n] ?? 0).toFixed(2)} % ${one.memory.toFixed(0)} MiB`)
  say(
    `${name}: ${sum(cpu).toFixed(2)} % of one CPU, ${sum(after.map(({ memory }) => memory)).toFixed(0)} MiB (${parts.join(", ")})`
  )
})

const floor = Effect.gen(function* () {
  const root = yield* repository
  const { pid } = yield* started(root)
  yield* idle("no runs", pid)
}).pipe(Effect.scoped)

const startRuns = (root: string) =>
  Effect.forEach(
    Array.from({ length: count }, (_, n) => n),
    (n) => startRun(root, n)
  )

const working = Effect.gen(function* () {
  const root = yield* repository
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
  const root = yield* repository
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

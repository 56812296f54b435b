/** The system of the benchmarks of many runs: a repository with a plan for each run, and the host that works there. Linux only. */
import { execFileSync, spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { performance } from "node:perf_hooks"
import { ActorConfig, JetStreamBroker, Messenger } from "@reprise/actor"
import { attach, connectionTo, Nats } from "@reprise/nats"
import { makeRunId, RunOptions, to } from "@reprise/protocol"
import { Effect, Layer, Schema } from "effect"
import { family, taken } from "../processes.ts"

const settleMs = 30_000
const watchedMs = 30_000

const host = new URL("host.ts", import.meta.url).pathname
export const say = (line: string) => process.stdout.write(`${line}\n`)

const planPath = (n: number) => `plans/plan-${n}.md`
const planText = (n: number) => `# Plan ${n}\n\n## Phase 1: One\n\n- [ ] Choose a way\n`

/** A repository with so many plans. */
export const repositoryWith = (plans: number) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const root = realpathSync(mkdtempSync(join(tmpdir(), "reprise-parked-")))
      mkdirSync(join(root, "plans"))
      for (let n = 0; n < plans; n++) writeFileSync(join(root, planPath(n)), planText(n))
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
export const started = (root: string, agents: "asking" | "working" = "asking") =>
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
export const talking = <A, E>(root: string, effect: Effect.Effect<A, E, Messenger>) => {
  const connection = Layer.effect(
    Nats,
    Effect.flatMap(attach(join(root, ".reprise")), (endpoint) => Nats.make(connectionTo(endpoint, { name: "bench" })))
  )
  const broker = Layer.provideMerge(JetStreamBroker.layer, connection).pipe(Layer.provideMerge(ActorConfig.layer()))
  return Effect.provide(effect, Layer.fresh(Messenger.layer.pipe(Layer.provideMerge(broker))))
}

const decodeOptions = Schema.decodeSync(RunOptions)

export const startRun = Effect.fnUntraced(function* (root: string, n: number) {
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

/** Measures processor time and memory of the idle system. */
export const idle = Effect.fnUntraced(function* (name: string, pid: number) {
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

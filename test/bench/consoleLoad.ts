/**
 * A turn while somebody asks the web console for as much as they can, compared with the same turn in peace: before and
 * after signing in, by requests, by event streams, and for a list of plans that take long to read. Beside it, the longest
 * block of the event loop that serves the console. The console, the broker, OpenCode and the work are those of
 * `reprise up --web`; the model answers at once.
 */
import { readFileSync } from "node:fs"
import { Agent, request } from "node:http"
import { loadavg } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Effect } from "effect"
import { startConsole } from "../harness/browser.ts"
import { signIn } from "../harness/consoleClient.ts"
import { plan, script } from "../harness/modelScript.ts"
import { makeWorld, type World } from "../harness/World.ts"
import { figuresOf, milliseconds } from "./figures.ts"

const rounds = 3
const most = 2
const all = ["requests", "streams", "signed-in-requests", "signed-in-streams", "signed-in-plans"] as const
type Load = (typeof all)[number]

/** The runs of a round: each beside a load has one in peace before it, since a machine's speed changes. */
const fileOf = (load: Load, round: number, isQuiet: boolean) => `${load}-${round}${isQuiet ? "-quiet" : ""}.md`
const rest = Array.from({ length: rounds }, (_, round) => round)

interface Target {
  readonly port: number
  readonly path: string
  /** Absent: nobody has signed in. */
  readonly headers?: Readonly<Record<string, string>>
}

/** One request; gives the status when the answer ends, 0 when there was none. */
const ask = ({ headers = {}, path, port }: Target, agent: Agent, signal: AbortSignal): Promise<number> =>
  new Promise((resolve) => {
    const sent = request({ host: "127.0.0.1", port, path, headers, agent, signal }, (response) => {
      response.resume()
      response.on("close", () => resolve(response.statusCode ?? 0))
    })
    sent.on("error", () => resolve(0))
    sent.end()
  })

/** So many clients that each ask again as soon as they are answered, until the scope closes. Gives what they were told. */
const asking = (count: number, target: Target) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const told = new Map<number, number>()
      const controller = new AbortController()
      const agent = new Agent({ keepAlive: true, maxSockets: count })
      const client = async () => {
        while (!controller.signal.aborted) {
          const status = await ask(target, agent, controller.signal)
          told.set(status, (told.get(status) ?? 0) + 1)
          // Without an answer it would never let anything else happen.
          if (status === 0) await new Promise((resolve) => setImmediate(resolve))
        }
      }
      const clients = Promise.all(Array.from({ length: count }, client))
      return { told, stop: () => controller.abort(), clients }
    }),
    ({ clients, stop }) => {
      stop()
      return Effect.promise(() => clients)
    }
  )

/** The durations of the turns of a run, in milliseconds. */
const turnsOf = Effect.fnUntraced(function* (world: World, file: string) {
  const { code, stderr } = yield* world.reprise("run", file, "--no-input")
  if (code !== 0) return yield* Effect.die(new Error(stderr))
  const run = (yield* world.runs).find(({ planPath }) => planPath.endsWith(file))
  const events = yield* world.eventsOf(run?.runId ?? "")
  const at = (type: string) => events.filter((one) => one.type === type).map(({ time }) => Date.parse(time))
  const ended = at("TurnCompleted")
  return at("TurnStarted").map((began, n) => (ended[n] ?? Number.NaN) - began)
})

/** Small files that take long to parse. */
const slowPlans = Array.from(
  { length: 40 },
  (_, n) => [`slow/${n}.md`, `## Phase 1: Slow ${n}\n\n${"- [ ] a\n".repeat(4_000)}`] as const
)

/** The longest block of the event loop from then to now, in milliseconds. */
const longestBlock = (file: string, from: number): number =>
  Math.max(
    ...readFileSync(file, "utf8")
      .trim()
      .split("\n")
      .map((line) => line.split(" ").map(Number))
      .flatMap(([at = 0, delayMs = 0]) => (at >= from ? [delayMs] : []))
  )

const loads = () =>
  loadavg()
    .map((one) => one.toFixed(1))
    .join(", ")

const sum = (values: ReadonlyArray<number>): number => values.reduce((a, b) => a + b, 0)

const said = (told: ReadonlyMap<number, number>, seconds: number): string =>
  [...told]
    .toSorted(([a], [b]) => a - b)
    .map(([status, count]) => `${(count / seconds).toFixed(0)} × ${status === 0 ? "cut off" : status}`)
    .join(", ")

export const consoleLoad = (): Promise<void> =>
  Effect.gen(function* () {
    const plans = all.flatMap((load) =>
      rest.flatMap((round) => [true, false].map((isQuiet) => [fileOf(load, round, isQuiet), plan("One")] as const))
    )
    const world = yield* makeWorld({
      plan: plan("One"),
      script: script(),
      files: Object.fromEntries([...plans, ...slowPlans]),
      environment: (folder) => ({
        NODE_OPTIONS: `--import=${fileURLToPath(new URL("loopDelay.ts", import.meta.url))}`,
        REPRISE_BENCH_LOOP: join(folder, "loop.txt")
      })
    })
    const blocks = world.environment["REPRISE_BENCH_LOOP"] ?? ""
    const { address, port, token } = yield* startConsole(world)
    const headers = yield* signIn(address, token)
    const targets = {
      requests: { count: 16, target: { port, path: "/api/questions" } },
      streams: { count: 700, target: { port, path: "/api/events" } },
      "signed-in-requests": { count: 16, target: { port, path: "/api/questions", headers } },
      "signed-in-streams": { count: 700, target: { port, path: "/api/events", headers } },
      "signed-in-plans": { count: 16, target: { port, path: "/api/plans", headers } }
    }
    // Everything is warm before anything counts.
    yield* turnsOf(world, "PLAN.md")
    for (const load of all) {
      const quiet: Array<number> = []
      const loaded: Array<number> = []
      const ratios: Array<number> = []
      const blocked = { quiet: 0, loaded: 0 }
      for (const round of rest) {
        const quietFrom = Date.now()
        const before = yield* turnsOf(world, fileOf(load, round, true))
        blocked.quiet = Math.max(blocked.quiet, longestBlock(blocks, quietFrom))
        const loadedFrom = Date.now()
        const beside = yield* Effect.gen(function* () {
          const began = performance.now()
          const { told } = yield* asking(targets[load].count, targets[load].target)
          const turns = yield* turnsOf(world, fileOf(load, round, false))
          process.stdout.write(`${load}: a second ${said(told, (performance.now() - began) / 1000)}\n`)
          return turns
        }).pipe(Effect.scoped)
        blocked.loaded = Math.max(blocked.loaded, longestBlock(blocks, loadedFrom))
        quiet.push(...before)
        loaded.push(...beside)
        ratios.push(sum(beside) / sum(before))
      }
      const ratio = figuresOf(ratios).p50
      process.stdout.write(
        `a turn beside ${load}: ${milliseconds(figuresOf(loaded))}; in peace ${milliseconds(figuresOf(quiet))}; ${ratio.toFixed(2)} × as long\n` +
          `  the event loop was blocked for ${blocked.loaded.toFixed(0)} ms at most, in peace ${blocked.quiet.toFixed(0)} ms: ${(blocked.loaded / blocked.quiet).toFixed(1)} ×; load averages ${loads()}\n`
      )
      if (!(ratio <= most)) return yield* Effect.die(new Error(`a turn takes more than ${most} times as long`))
    }
  }).pipe(Effect.scoped, Effect.runPromise)

/**
 * A turn while somebody asks the web console for as much as they can, compared with the same turn in peace: before and
 * after signing in, by requests and by event streams. The console, the broker, OpenCode and the work are those of
 * `reprise up --web`; the model answers at once.
 */
import { Agent, request } from "node:http"
import { Effect } from "effect"
import { startConsole } from "../harness/browser.ts"
import { plan, script } from "../harness/modelScript.ts"
import { makeWorld, type World } from "../harness/World.ts"
import { figuresOf, milliseconds } from "./figures.ts"

const rounds = 3
const most = 2
const all = ["requests", "streams", "signed-in-requests", "signed-in-streams"] as const
type Load = (typeof all)[number]

/** The runs of a round: each beside a load has one in peace before it, since a machine's speed changes. */
const fileOf = (load: Load, round: number, isQuiet: boolean) => `${load}-${round}${isQuiet ? "-quiet" : ""}.md`
const rest = Array.from({ length: rounds }, (_, round) => round)

interface Target {
  readonly port: number
  readonly path: string
  readonly cookie?: string
}

/** One request; gives the status when the answer ends, 0 when there was none. */
const ask = ({ cookie, path, port }: Target, agent: Agent, signal: AbortSignal): Promise<number> =>
  new Promise((resolve) => {
    const headers = cookie === undefined ? {} : { cookie }
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

const signIn = (address: string, token: string) =>
  Effect.promise(async () => {
    const reply = await fetch(`${address}/api/session`, {
      method: "POST",
      headers: { origin: address, "content-type": "application/json" },
      body: JSON.stringify({ token })
    })
    return (reply.headers.get("set-cookie") ?? "").split(";")[0] ?? ""
  })

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
    const world = yield* makeWorld({ plan: plan("One"), script: script(), files: Object.fromEntries(plans) })
    const { address, port, token } = yield* startConsole(world)
    const cookie = yield* signIn(address, token)
    const loads = {
      requests: { count: 16, target: { port, path: "/api/questions" } },
      streams: { count: 700, target: { port, path: "/api/events" } },
      "signed-in-requests": { count: 16, target: { port, path: "/api/questions", cookie } },
      "signed-in-streams": { count: 700, target: { port, path: "/api/events", cookie } }
    }
    // Everything is warm before anything counts.
    yield* turnsOf(world, "PLAN.md")
    for (const load of all) {
      const quiet: Array<number> = []
      const loaded: Array<number> = []
      const ratios: Array<number> = []
      for (const round of rest) {
        const before = yield* turnsOf(world, fileOf(load, round, true))
        const beside = yield* Effect.gen(function* () {
          const began = performance.now()
          const { told } = yield* asking(loads[load].count, loads[load].target)
          const turns = yield* turnsOf(world, fileOf(load, round, false))
          process.stdout.write(`${load}: a second ${said(told, (performance.now() - began) / 1000)}\n`)
          return turns
        }).pipe(Effect.scoped)
        quiet.push(...before)
        loaded.push(...beside)
        ratios.push(sum(beside) / sum(before))
      }
      const ratio = figuresOf(ratios).p50
      process.stdout.write(
        `a turn beside ${load}: ${milliseconds(figuresOf(loaded))}; in peace ${milliseconds(figuresOf(quiet))}; ${ratio.toFixed(2)} × as long\n`
      )
      if (!(ratio <= most)) return yield* Effect.die(new Error(`a turn takes more than ${most} times as long`))
    }
  }).pipe(Effect.scoped, Effect.runPromise)

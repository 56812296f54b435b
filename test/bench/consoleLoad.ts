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
import { type Figures, figuresOf, milliseconds } from "./figures.ts"

const rounds = 3
const most = 2
const files = ["quiet", "requests", "streams", "signed-in-requests", "signed-in-streams"] as const
type Load = (typeof files)[number]

const fileOf = (load: Load, round: number) => `${load}-${round}.md`
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

const said = (told: ReadonlyMap<number, number>, seconds: number): string =>
  [...told]
    .toSorted(([a], [b]) => a - b)
    .map(([status, count]) => `${(count / seconds).toFixed(0)} × ${status === 0 ? "cut off" : status}`)
    .join(", ")

export const consoleLoad = (): Promise<void> =>
  Effect.gen(function* () {
    const plans = files.flatMap((load) => rest.map((round) => [fileOf(load, round), plan("One")] as const))
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
    const turns = new Map<Load, Array<number>>(files.map((load) => [load, []]))
    for (const round of rest) {
      for (const load of files) {
        const told = yield* Effect.gen(function* () {
          const began = performance.now()
          const running = load === "quiet" ? undefined : yield* asking(loads[load].count, loads[load].target)
          turns.get(load)?.push(...(yield* turnsOf(world, fileOf(load, round))))
          return running && said(running.told, (performance.now() - began) / 1000)
        }).pipe(Effect.scoped)
        if (told !== undefined) process.stdout.write(`${load}: a second ${told}\n`)
      }
    }
    const figures = (load: Load): Figures => figuresOf(turns.get(load) ?? [])
    const quiet = figures("quiet")
    process.stdout.write(`a turn in peace: ${milliseconds(quiet)}\n`)
    for (const load of files) {
      if (load === "quiet") continue
      const ratio = figures(load).p50 / quiet.p50
      process.stdout.write(`a turn beside ${load}: ${milliseconds(figures(load))}, ${ratio.toFixed(2)} × as long\n`)
      if (!(ratio <= most)) return yield* Effect.die(new Error(`a turn takes more than ${most} times as long`))
    }
  }).pipe(Effect.scoped, Effect.runPromise)

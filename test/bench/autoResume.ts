/** The time until a waiting run continues after a human prompts its agent, compared with OpenCode's own event. */
import { Messenger } from "@reprise/actor"
import { AgentRuntime } from "@reprise/agent"
import { Effect, Layer, Stream } from "effect"
import { Cluster, clusterLayer } from "../harness/Cluster.ts"
import { needsHuman, on, plan, script } from "../harness/modelScript.ts"
import { typeInto, withAgentRuntime } from "../harness/openCodeUser.ts"
import { waitUntil } from "../harness/waitUntil.ts"
import { figuresOf, milliseconds } from "./figures.ts"

const rounds = 10
const services = ["orchestrator", "session-manager", "reviewer", "gate", "workspace"] as const

const world = clusterLayer({
  plan: plan("One"),
  config: 'permissions = "all"\n[sessions]\nidleGraceMs = 200\n',
  script: script(
    on({ role: "author", kind: "report" }, needsHuman("Which way?")),
    on({ role: "author" }, { text: "I look at it." })
  )
})

const measure = Effect.gen(function* () {
  const { address, serve, world } = yield* Cluster
  const messenger = yield* Messenger
  for (const service of services) yield* serve(service)
  const parked = yield* world.reprise("run", "PLAN.md", "--nats", address)
  if (parked.code !== 4) return yield* Effect.die(new Error(parked.stderr))
  const views = yield* messenger.query("session-manager", "list", {})
  const [session] = views as ReadonlyArray<{ readonly runtimeSessionId: string }>
  const id = session?.runtimeSessionId ?? ""

  const resumed: Array<number> = []
  const waiting: Array<number> = [Date.now()]
  const seen: Array<number> = []
  yield* messenger.events({ services: ["orchestrator"], types: ["StepResumed", "StepWaiting"], from: "now" }).pipe(
    Stream.runForEach(({ event }) =>
      Effect.sync(() => void (event._tag === "StepResumed" ? resumed : waiting).push(Date.now()))
    ),
    Effect.forkScoped({ startImmediately: true })
  )
  yield* withAgentRuntime(
    world,
    AgentRuntime.use(({ events }) =>
      Stream.runForEach(events, (event) => Effect.sync(() => (event.type === "working" ? seen.push(Date.now()) : 0)))
    )
  ).pipe(Effect.forkScoped)

  const floors: Array<number> = []
  const lags: Array<number> = []
  for (let round = 0; round < rounds; round++) {
    const calls = (yield* world.model.calls).length
    yield* typeInto(world, id, `Look at it, ${round}.`)
    yield* waitUntil(Effect.sync(() => resumed[round]))
    // Measured from the model's call: its answer begins at once.
    const began = Date.parse((yield* world.model.calls)[calls]?.at ?? "")
    lags.push((resumed[round] ?? Number.NaN) - began)
    floors.push((seen.find((at) => at >= began) ?? Number.NaN) - began)
    yield* waitUntil(Effect.sync(() => waiting[round + 1]))
  }
  process.stdout.write(`OpenCode's own event of the first activity: ${milliseconds(figuresOf(floors))}\n`)
  process.stdout.write(`the run is running again: ${milliseconds(figuresOf(lags))} after the model was asked\n`)
}).pipe(Effect.scoped)

export const autoResume = (): Promise<void> => Effect.runPromise(measure.pipe(Effect.provide(Layer.fresh(world))))

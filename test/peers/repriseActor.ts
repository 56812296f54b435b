/**
 * Reprise's actor runtime on a nats-server: a chain is an actor. The client sends a command and reads the events.
 */
import {
  type Actor,
  actorLayer,
  Messenger,
  publish,
  requestWork,
  send as sendTo,
  WorkFault,
  workerLayer
} from "@reprise/actor"
import { addressing, anyHost, Key, PublicEvent, RunId } from "@reprise/protocol"
import { Effect, Layer, ManagedRuntime, Result, Schema, Stream } from "effect"
import { connected, describeServer, startNatsServer } from "./natsServer.ts"
import { type Chain, doStep, type Peer, payload } from "./Peer.ts"

const ChainFields = {
  id: Schema.String,
  steps: Schema.Int,
  file: Schema.optionalKey(Schema.String),
  stepMs: Schema.optionalKey(Schema.Int)
}
const Command = Schema.TaggedUnion({
  Run: { chain: Schema.Struct(ChainFields) },
  StepDone: { step: Schema.Int, result: Schema.String },
  Park: {},
  Answer: { text: Schema.String }
})
type Command = typeof Command.Type
const Event = Schema.TaggedUnion({
  Begun: { chain: Schema.Struct(ChainFields) },
  Stepped: { step: Schema.Int, result: Schema.String },
  Parked: {},
  Answered: { text: Schema.String }
})
type Event = typeof Event.Type
const Work = Schema.TaggedUnion({ Step: { chain: Schema.Struct(ChainFields), step: Schema.Int } })
type Work = typeof Work.Type

interface State {
  readonly chain?: Chain
  readonly done: number
}

const to = addressing<Key>()({ service: "orchestrator", keyField: undefined, commands: Command })

/** The number of the next step is also that of the next event: `attempt`. */
const tell = (key: Key, attempt: number) =>
  publish(PublicEvent.cases.StepStarted.make({ runId: RunId.make(key), step: "EXECUTE", attempt }))

const decide = (state: State, input: Command): ReadonlyArray<Event> => {
  switch (input._tag) {
    case "Run":
      return state.chain === undefined ? [{ _tag: "Begun", chain: input.chain }] : []
    case "StepDone":
      return input.step === state.done + 1 ? [{ _tag: "Stepped", step: input.step, result: input.result }] : []
    case "Park":
      return [{ _tag: "Parked" }]
    case "Answer":
      return [{ _tag: "Answered", text: input.text }]
  }
}

const evolve = (state: State, event: Event): State => {
  if (event._tag === "Begun") return { chain: event.chain, done: 0 }
  return event._tag === "Stepped" ? { ...state, done: event.step } : state
}

/** What does the steps. */
type StepsBy = "worker" | "actor"

/** A worker does the step and reports its result, as services do; or the actor sends the result to itself. */
const nextStep = (stepsBy: StepsBy, key: Key, chain: Chain, step: number) =>
  stepsBy === "worker"
    ? requestWork(anyHost, { _tag: "Step" as const, chain, step })
    : sendTo(to(key).StepDone({ step, result: payload }))

const makeActor = (stepsBy: StepsBy): Actor<State, Command, Event, Work> => ({
  service: "orchestrator",
  commands: Command,
  journal: Event,
  initial: { done: 0 },
  decide: (state, input) => Result.succeed(decide(state, input)),
  evolve,
  react: ({ chain, done }, [event], { key }) => {
    if (event?._tag === "Parked") return [tell(key, 1)]
    if (event?._tag === "Answered") return [tell(key, 2)]
    if (chain === undefined) return []
    return [done === chain.steps ? tell(key, 2) : nextStep(stepsBy, key, chain, done + 1)]
  },
  runOf: () => undefined,
  view: ({ done }) => ({ done }),
  snapshotVersion: 1
})

const worker = workerLayer<Work, Messenger>({
  service: "orchestrator",
  host: anyHost,
  work: Work,
  concurrency: 64,
  handle: ({ chain, step }, { id, key }) =>
    Effect.gen(function* () {
      const result = yield* Effect.promise(() => doStep(chain, step))
      const messenger = yield* Messenger
      yield* messenger.send(to(key).StepDone({ step, result }), { id: `${id}.done`, causation: id })
    }).pipe(Effect.mapError((cause) => new WorkFault({ operation: "step", cause })))
})

export const makeReprise = (name: string, stepsBy: StepsBy): Peer => ({
  name,
  canPark: true,
  hasEffects: stepsBy === "worker",
  missing: () => undefined,
  describe: async () =>
    `Reprise's actor runtime, steps by ${stepsBy === "worker" ? "a worker" : "the actor alone"}, with ${await describeServer()}`,
  startServer: startNatsServer,

  work: async ({ url = "" }) => {
    const services = Layer.merge(actorLayer(makeActor(stepsBy)), worker).pipe(Layer.provide(connected(url, "worker")))
    const runtime = ManagedRuntime.make(services)
    await runtime.runPromise(Effect.void)
  },

  client: async ({ url = "" }) => {
    const runtime = ManagedRuntime.make(connected(url, "client"))
    const waiting = new Map<string, () => void>()
    /** Completes when this event of the actor is seen. */
    const seen = (id: string, attempt: number) =>
      new Promise<void>((resolve) => waiting.set(`${id} ${attempt}`, resolve))
    const messenger = await runtime.runPromise(Messenger)
    runtime.runFork(
      messenger.events({ from: "now", types: ["StepStarted"] }).pipe(
        Stream.runForEach(({ event }) =>
          Effect.sync(() => {
            if (event._tag === "StepStarted") waiting.get(`${event.runId} ${event.attempt}`)?.()
          })
        )
      )
    )
    const send = (command: Parameters<typeof messenger.send>[0]) => runtime.runPromise(messenger.send(command))
    return {
      run: async (chain) => {
        const end = seen(chain.id, 2)
        await send(to(Key.make(chain.id)).Run({ chain }))
        await end
      },
      park: async (id) => {
        const parked = seen(id, 1)
        await send(to(Key.make(id)).Park({}))
        await parked
      },
      answer: async (id) => {
        const answered = seen(id, 2)
        await send(to(Key.make(id)).Answer({ text: "yes" }))
        await answered
      }
    }
  }
})

/** An actor for tests: it counts, and can be told to do everything that an actor can do. */
import { addressing, anyHost, type Key, PublicEvent, RunId } from "@reprise/protocol"
import { Result, Schema } from "effect"
import {
  type Actor,
  actorLayer,
  type Outgoing,
  publish,
  Refusal,
  requestWork,
  send,
  setTimer
} from "../../src/index.ts"

export const CounterCommand = Schema.TaggedUnion({
  Add: { n: Schema.Int },
  /** Adds, and tells another counter to add. */
  AddAndTell: { n: Schema.Int, other: Schema.String },
  AddLater: { n: Schema.Int, dueAt: Schema.String },
  AskForWork: { name: Schema.String },
  Finish: { name: Schema.String },
  Keep: { text: Schema.String },
  Forbidden: {},
  Ignored: {},
  Explode: {},
  ExplodeLater: {}
})
export type CounterCommand = typeof CounterCommand.Type

/** `toCounter("a").Add({ n: 1 })`: a command to a counter. */
export const toCounter = addressing<Key>()({ service: "gate", keyField: undefined, commands: CounterCommand })

export const CounterEvent = Schema.TaggedUnion({
  Added: { n: Schema.Int, by: Schema.String, at: Schema.String, tell: Schema.optionalKey(Schema.String) },
  Planned: { n: Schema.Int, dueAt: Schema.String },
  Asked: { name: Schema.String },
  Finished: { name: Schema.String },
  Kept: { text: Schema.String },
  Broken: {}
})
export type CounterEvent = typeof CounterEvent.Type

export const CounterWork = Schema.TaggedUnion({ Dig: { name: Schema.String } })
export type CounterWork = typeof CounterWork.Type

export interface CounterState {
  readonly total: number
  readonly steps: number
  readonly finished: ReadonlyArray<string>
  readonly text: string
}

export type CounterInput = CounterCommand | Extract<PublicEvent, { _tag: "RunPaused" | "RunAborted" }>

const runOf = RunId.make

/** Of the service `gate`, so that its subjects are real ones. */
export const counter: Actor<CounterState, CounterInput, CounterEvent, CounterWork> = {
  service: "gate",
  commands: CounterCommand,
  subscription: { types: ["RunPaused"], route: (event) => (event.runId === "nobody" ? undefined : event.runId) },
  journal: CounterEvent,
  initial: { total: 0, steps: 0, finished: [], text: "" },
  decide: (_state, input, delivery) => {
    switch (input._tag) {
      case "Add":
        return Result.succeed([{ _tag: "Added", n: input.n, by: delivery.id, at: delivery.now }])
      case "AddAndTell":
        return Result.succeed([{ _tag: "Added", n: input.n, by: delivery.id, at: delivery.now, tell: input.other }])
      case "AddLater":
        return Result.succeed([{ _tag: "Planned", n: input.n, dueAt: input.dueAt }])
      case "AskForWork":
        return Result.succeed([{ _tag: "Asked", name: input.name }])
      case "Finish":
        return Result.succeed([{ _tag: "Finished", name: input.name }])
      case "Keep":
        return Result.succeed([{ _tag: "Kept", text: input.text }])
      case "RunPaused":
      case "RunAborted":
        return Result.succeed([{ _tag: "Added", n: 1000, by: delivery.id, at: delivery.now }])
      case "Forbidden":
        return Result.fail(new Refusal({ code: "closed", reason: "It is forbidden." }))
      case "Ignored":
        return Result.succeed([])
      case "Explode":
        throw new Error("decide exploded")
      case "ExplodeLater":
        return Result.succeed([{ _tag: "Broken" }])
    }
  },
  evolve: (state, event) => {
    const next = { ...state, steps: state.steps + 1 }
    switch (event._tag) {
      case "Added":
        return { ...next, total: state.total + event.n }
      case "Finished":
        return { ...next, finished: [...state.finished, event.name] }
      case "Kept":
        return { ...next, text: event.text }
      default:
        return next
    }
  },
  react: (state, events, delivery) =>
    events.flatMap((event): ReadonlyArray<Outgoing<CounterCommand, CounterWork>> => {
      switch (event._tag) {
        case "Added":
          return [
            publish(
              PublicEvent.cases.StepStarted.make({ runId: runOf(delivery.key), step: "EXECUTE", attempt: state.total })
            ),
            ...(event.tell === undefined ? [] : [send(toCounter(event.tell).Add({ n: event.n }))])
          ]
        case "Planned":
          return [setTimer(event.dueAt, { _tag: "Add", n: event.n })]
        case "Asked":
          return [requestWork(anyHost, { _tag: "Dig", name: event.name })]
        case "Broken":
          throw new Error("react exploded")
        default:
          return []
      }
    }),
  runOf: () => undefined,
  view: (state) => ({ total: state.total, steps: state.steps, status: state.total > 10 ? "much" : "little" }),
  snapshotVersion: 1
}

type CounterActor = typeof counter

/** Runs a counter that behaves otherwise in some points. */
export const counterLayer = (otherwise: Partial<CounterActor> = {}) => actorLayer({ ...counter, ...otherwise })

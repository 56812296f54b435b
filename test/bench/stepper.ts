/** The smallest actor: a command of `count` makes as many events, and the last of them is published. */
import { type Actor, publish } from "@reprise/actor"
import { addressing, type Key, PublicEvent, RunId } from "@reprise/protocol"
import { Result, Schema } from "effect"

const Command = Schema.TaggedUnion({ Step: { count: Schema.Int } })
const Event = Schema.TaggedUnion({ Stepped: { at: Schema.String } })

export const toStepper = addressing<Key>()({ service: "orchestrator", keyField: undefined, commands: Command })

export const stepper: Actor<number, typeof Command.Type, typeof Event.Type> = {
  service: "orchestrator",
  commands: Command,
  journal: Event,
  initial: 0,
  decide: (_steps, { count }, { now }) =>
    Result.succeed(Array.from({ length: count }, () => ({ _tag: "Stepped" as const, at: now }))),
  evolve: (steps) => steps + 1,
  react: (steps, _events, { key }) => [
    publish(PublicEvent.cases.StepStarted.make({ runId: RunId.make(key), step: "EXECUTE", attempt: steps }))
  ],
  runOf: () => undefined,
  view: (steps) => ({ steps }),
  snapshotVersion: 1
}

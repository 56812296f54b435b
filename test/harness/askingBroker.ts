/** A broker with the gate's service alone, to which a test raises the questions that it wants to see. */
import { ActorConfig, JetStreamBroker, Messenger } from "@reprise/actor"
import { layer as gate } from "@reprise/gate"
import { ensureStreams, Nats } from "@reprise/nats"
import {
  EscalationId,
  type EscalationOption,
  type EscalationOrigin,
  type Evidence,
  type Item,
  PhaseId,
  RunId,
  to
} from "@reprise/protocol"
import { localBroker, Broker as Server } from "@reprise/testing"
import { Effect, Layer } from "effect"

/** Names of streams as the command line has them by default. */
const prefix = "reprise"

/** The messenger of the broker; its address is that of `Server`. */
export const askingBroker = gate.pipe(
  Layer.provideMerge(Messenger.layer),
  Layer.provideMerge(JetStreamBroker.layer),
  Layer.provideMerge(Layer.effectDiscard(ensureStreams(prefix, { storageBytes: 256 * 1024 ** 2 }))),
  Layer.provideMerge(Layer.unwrap(Effect.map(Server, ({ url }) => Nats.layer({ url, name: "asking" })))),
  Layer.provideMerge(ActorConfig.layer({ prefix })),
  Layer.provideMerge(localBroker)
)

const option = (name: string, label: string, key: string): EscalationOption => ({
  name,
  label,
  keys: [key],
  guidance: "optional"
})

export const stepOptions = [
  option("continue-session", "continue session (resume the interrupted agent)", "c"),
  option("fix", "fix in new session (start fresh with optional guidance)", "f"),
  option("override", "override and move on (force approve this phase)", "o"),
  option("abort", "abort (stop execution)", "q")
]

interface Raised {
  readonly reason: string
  readonly evidence?: Evidence
  readonly origin?: EscalationOrigin
  readonly items?: ReadonlyArray<Item>
  readonly options?: ReadonlyArray<EscalationOption>
}

/** Raises a question of the run, of its author unless told otherwise, under the id `<run>-e1`, and waits until it is open. */
export const raise = Effect.fnUntraced(function* (
  run: string,
  { evidence = {}, items = [], options = stepOptions, origin = "author", reason }: Raised
) {
  const messenger = yield* Messenger
  const escalationId = EscalationId.make(`${run}-e1`)
  const command = to.gate(escalationId).RaiseEscalation({
    runId: RunId.make(run),
    phase: PhaseId.make("1"),
    step: "EXECUTE",
    origin,
    options,
    ...(items.length === 0 ? {} : { items }),
    reason,
    evidence
  })
  yield* messenger.ask(command, { id: `raise-${escalationId}`, subject: run })
  return escalationId
})

/** Somebody else answers. */
export const answer = Effect.fnUntraced(function* (escalationId: EscalationId, choice: string) {
  const messenger = yield* Messenger
  const command = to.gate(escalationId).AnswerEscalation({ choice, by: "ada", via: "cli" })
  const { runId } = yield* messenger.show.gate(escalationId)
  yield* messenger.ask(command, { id: `answer-${escalationId}`, subject: runId })
})

export const shownQuestion = (escalationId: EscalationId) =>
  Messenger.use((messenger) => messenger.show.gate(escalationId))

/** One run and one question as they are now, asked of the service that owns them. */
import { Messenger } from "@reprise/actor"
import { EscalationView, type RunId, RunView } from "@reprise/protocol"
import { Effect, Schema } from "effect"

const decodeRun = Schema.decodeUnknownEffect(RunView)
const decodeQuestion = Schema.decodeUnknownEffect(EscalationView)

export const showRun = Effect.fnUntraced(function* (runId: RunId) {
  const messenger = yield* Messenger
  return yield* decodeRun(yield* messenger.query("orchestrator", "show", { id: runId })).pipe(Effect.orDie)
})

export const showQuestion = Effect.fnUntraced(function* (escalationId: string) {
  const messenger = yield* Messenger
  return yield* decodeQuestion(yield* messenger.query("gate", "show", { id: escalationId })).pipe(Effect.orDie)
})

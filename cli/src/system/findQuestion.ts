/** One question by id; an unknown one is wrong use. */
import { Messenger } from "@reprise/actor"
import { EscalationView, isKey } from "@reprise/protocol"
import { Effect, Schema } from "effect"
import { wrongUse } from "../terminal/CliFailure.ts"

const decode = Schema.decodeUnknownEffect(EscalationView)

const unknown = (id: string) =>
  wrongUse("unknown-question", `There is no question '${id.slice(0, 80)}'.`, "'reprise gate list' lists the open ones.")

export const findQuestion = Effect.fnUntraced(function* (id: string) {
  if (!isKey(id)) return yield* unknown(id)
  const messenger = yield* Messenger
  const found = yield* messenger.query("gate", "show", { id }).pipe(
    Effect.catchIf(
      (failed) => failed.code === "not-found",
      () => unknown(id)
    )
  )
  return yield* decode(found).pipe(Effect.orDie)
})

/** One session by id; an unknown one is wrong use. */
import { Messenger } from "@reprise/actor"
import { isKey, SessionView } from "@reprise/protocol"
import { Effect, Schema } from "effect"
import { missing, wrongUse } from "../terminal/CliFailure.ts"

const decode = Schema.decodeUnknownEffect(SessionView)

const unknown = (id: string) =>
  wrongUse("unknown-session", `There is no session '${id.slice(0, 80)}'.`, "'reprise sessions list' lists them.")

const overStatuses: ReadonlyArray<SessionView["status"]> = ["expired", "completed", "aborted", "failed"]
export const isOver = ({ status }: SessionView): boolean => overStatuses.includes(status)

const archivedStatuses: ReadonlyArray<SessionView["status"]> = ["expired", "completed", "aborted"]

/** It has ended, and its host still has to put its conversation into the archive. */
export const awaitsArchive = ({ runtimeSessionId, status, transcript }: SessionView): boolean =>
  archivedStatuses.includes(status) && runtimeSessionId !== undefined && transcript === undefined

export const findSession = Effect.fnUntraced(function* (id: string) {
  if (!isKey(id)) return yield* unknown(id)
  const messenger = yield* Messenger
  const found = yield* messenger.query("session-manager", "show", { id }).pipe(
    Effect.catchIf(
      (failed) => failed.code === "not-found",
      () => unknown(id)
    ),
    Effect.catchTag("QueryFailed", (failed) => missing(failed.code, failed.message, failed.hint, failed))
  )
  return yield* decode(found).pipe(Effect.orDie)
})

/** `reprise sessions abort ID` */
import { Messenger } from "@reprise/actor"
import { isStandalone, type SessionView, to } from "@reprise/protocol"
import { Effect } from "effect"
import { type ClientFlags, withWritingClient } from "../../system/clientSystem.ts"
import { findSession } from "../../system/lookUp/lookUp.ts"
import { type CommandId, newCommandId } from "../../system/names.ts"
import { missing, wrongUse } from "../../terminal/CliFailure.ts"
import { okJson, say } from "../../terminal/Printer.ts"
import { isOver } from "../../views/ended.ts"

/** Succeeds once the session is aborted. */
const sendAbort = Effect.fnUntraced(function* (
  { runId, sessionId }: SessionView,
  reason: string,
  commandId: CommandId
) {
  const messenger = yield* Messenger
  yield* messenger.ask(to.sessionManager(sessionId).AbortSession({ reason }), { ...commandId, subject: runId }).pipe(
    Effect.catchTags({
      Refused: (refused) =>
        wrongUse("refused", refused.reason, `'reprise sessions show ${sessionId}' shows the session.`),
      NoAnswer: () =>
        missing(
          "no-answer",
          `The session-manager did not confirm that ${sessionId} is aborted.`,
          "The command is stored and will be handled when the session-manager runs; 'reprise doctor' shows what is wrong."
        )
    })
  )
})

export const abortSession = (flags: ClientFlags & { readonly id: string; readonly reason: string }) => {
  const commandId = newCommandId("abort")
  return withWritingClient(
    flags,
    Effect.gen(function* () {
      const session = yield* findSession(flags.id)
      const { runId, sessionId, status } = session
      if (isOver(session)) {
        return yield* wrongUse(
          "not-running",
          `Session ${sessionId} cannot be aborted: it is ${status}.`,
          `'reprise sessions show ${sessionId}' shows it.`
        )
      }
      yield* sendAbort(session, flags.reason, commandId)
      if (flags.json) return okJson({ sessionId, status: "aborted" })
      const next = isStandalone({ runId, sessionId }) ? "" : ` Its run ${runId} will ask at the gate how to continue.`
      say(`Session ${sessionId} is aborted; its changes stay.${next}`)
    })
  )
}

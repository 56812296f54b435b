/** `reprise sessions abort ID` */
import { Messenger } from "@reprise/actor"
import { isStandalone } from "@reprise/protocol"
import { Effect, Option, Stream } from "effect"
import { withReading } from "../../system/clientSystem.ts"
import { newLetter } from "../../system/commandId.ts"
import { findSession, isOver } from "../../system/findSession.ts"
import type { SessionFlags } from "../../system/withPlace.ts"
import { missing, wrongUse } from "../../terminal/CliFailure.ts"
import { okJson, say } from "../../terminal/Printer.ts"

export const abortSession = (flags: SessionFlags & { readonly id: string; readonly reason: string }) => {
  const { id, since } = newLetter("abort")
  return withReading(
    flags,
    Effect.gen(function* () {
      const { runId, sessionId, ...session } = yield* findSession(flags.id)
      if (isOver({ runId, sessionId, ...session })) {
        return yield* wrongUse(
          "not-running",
          `There is nothing to abort: session ${sessionId} is ${session.status}.`,
          `'reprise sessions show ${sessionId}' shows it.`
        )
      }
      const messenger = yield* Messenger
      const command = { _tag: "AbortSession" as const, sessionId, reason: flags.reason }
      yield* messenger.send("session-manager", sessionId, command, { id, subject: runId })
      const seen = yield* messenger.events({ runId, services: ["session-manager"], from: { since } }).pipe(
        Stream.filter(
          ({ event, meta }) =>
            event.sessionId === sessionId &&
            (event._tag === "SessionAborted" || (event._tag === "CommandRefused" && meta.causation === id))
        ),
        Stream.runHead,
        Effect.timeoutOption("15 seconds")
      )
      const event = Option.getOrUndefined(Option.flatten(seen))?.event
      if (event?._tag === "CommandRefused") {
        return yield* wrongUse("refused", event.reason, `'reprise sessions show ${sessionId}' shows the session.`)
      }
      if (event === undefined) {
        return yield* missing(
          "no-answer",
          `The session-manager did not say what became of ${sessionId}.`,
          "The command is stored and will be handled when it runs; 'reprise doctor' shows what is wrong."
        )
      }
      if (flags.json) return okJson({ sessionId, status: "aborted" })
      const run = isStandalone({ runId, sessionId }) ? "" : ` Its run ${runId} asks at the gate what is to be done.`
      say(`Session ${sessionId} is aborted; what it did stays.${run}`)
    })
  )
}

/** `reprise sessions hand-back ID`: a human who worked in a session is done, and the run need not wait for more. */
import { Messenger } from "@reprise/actor"
import { to } from "@reprise/protocol"
import { Effect } from "effect"
import { type ClientFlags, withWritingClient } from "../../system/clientSystem.ts"
import { findSession } from "../../system/lookUp/lookUp.ts"
import { missing, wrongUse } from "../../terminal/CliFailure.ts"
import { okJson, say } from "../../terminal/Printer.ts"
import { isOver } from "../../views/ended.ts"

export const handBack = (flags: ClientFlags & { readonly id: string }) =>
  withWritingClient(
    flags,
    Effect.gen(function* () {
      const session = yield* findSession(flags.id)
      const { sessionId, status } = session
      if (isOver(session)) {
        return yield* wrongUse(
          "not-running",
          `Session ${sessionId} is ${status}: there is nothing to hand back.`,
          `Read it: reprise sessions show ${sessionId}`
        )
      }
      const messenger = yield* Messenger
      yield* Effect.mapError(messenger.send(to.sessionManager(sessionId).HandBack()), (error) =>
        missing("not-sent", `Session ${sessionId} was not handed back: ${error.message}`, "Run it again.", error)
      )
      if (flags.json) return okJson({ sessionId })
      say(`Session ${sessionId} is handed back. Its agent reports as soon as it is idle.`)
    })
  )

/** `reprise sessions list` and `reprise sessions show ID` */
import type { SessionView } from "@reprise/protocol"
import { Effect, Result } from "effect"
import { conversation } from "../../system/agents/conversation.ts"
import { withSessionClient } from "../../system/agents/sessionRuntime.ts"
import { type ClientFlags, withLists } from "../../system/clientSystem.ts"
import { allSessions, findSession } from "../../system/lookUp/lookUp.ts"
import { data, okJson, say } from "../../terminal/Printer.ts"
import { visible } from "../../terminal/visible.ts"
import { sessionTable, sessionText } from "../../views/sessionText.ts"

/** The oldest first. */
const byAge = (a: SessionView, b: SessionView): number =>
  a.createdAt.localeCompare(b.createdAt) || a.sessionId.localeCompare(b.sessionId)

export const listSessions = (flags: ClientFlags) =>
  withLists(
    flags,
    Effect.gen(function* () {
      const sessions = [...(yield* allSessions)].sort(byAge)
      if (flags.json) return okJson(sessions)
      if (sessions.length === 0) return say("No sessions yet.")
      data(sessionTable(sessions))
    })
  )

/** Shows the rest even if the conversation cannot be read. */
export const showSession = (flags: ClientFlags & { readonly id: string }) =>
  withSessionClient(flags, (options) =>
    Effect.gen(function* () {
      const session = yield* findSession(flags.id)
      const read = yield* Effect.result(conversation(session, options))
      const problem = Result.isFailure(read) ? { conversationUnavailable: read.failure.message } : {}
      if (flags.json) {
        return okJson({ ...session, conversation: Result.isSuccess(read) ? read.success.messages : [], ...problem })
      }
      data(sessionText(session, Result.isSuccess(read) ? read.success : undefined))
      if (Result.isFailure(read)) say(visible(read.failure.message))
    })
  )

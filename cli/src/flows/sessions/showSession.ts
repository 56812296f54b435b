/** `reprise sessions show ID`: what a session is, what it used, and what was said in it. */
import { Effect, Result } from "effect"
import { findSession } from "../../system/findSession.ts"
import { type SessionFlags, withPlace } from "../../system/withPlace.ts"
import { data, okJson, say, visible } from "../../terminal/Printer.ts"
import { sessionText } from "../../views/sessionText.ts"
import { conversation } from "./conversation.ts"

/** A conversation that cannot be read is no reason not to show the rest. */
export const show = (flags: SessionFlags & { readonly id: string }) =>
  withPlace(flags, (place, remote) =>
    Effect.gen(function* () {
      const session = yield* findSession(flags.id)
      const read = yield* Effect.result(conversation(session, place, remote))
      const problem = Result.isFailure(read) ? { conversationUnavailable: read.failure.message } : {}
      if (flags.json) {
        return okJson({ ...session, conversation: Result.isSuccess(read) ? read.success.messages : [], ...problem })
      }
      data(sessionText(session, Result.isSuccess(read) ? read.success : undefined))
      if (Result.isFailure(read)) say(visible(read.failure.message))
    })
  )

/**
 * OpenCode sends a whole conversation whenever it is asked about it. So a part that is far too long would be read again at
 * each look for as long as the session lives: it is shortened in OpenCode's own store, once.
 */
import type { Part, Session } from "@opencode-ai/sdk/v2/client"
import { Effect } from "effect"
import { boundedText, longestPart } from "../../boundedMessages.ts"
import type { Calls } from "../server/calls.ts"
import type { Listed } from "../turn/turnOf.ts"

/** Undefined: the part is no longer than it may be, or not of text. */
export const shortened = (part: Part): Part | undefined =>
  (part.type === "text" || part.type === "reasoning") && part.text.length > longestPart
    ? { ...part, text: boundedText(part.text) }
    : undefined

const isWritten = ({ info }: Listed): boolean => info.role === "assistant" && info.time.completed !== undefined

/** Gives the messages with what they have now. A part that cannot be changed stays, and is tried again at the next look. */
export const shortenParts = Effect.fnUntraced(function* (
  calls: Calls,
  { directory, id: sessionID }: Session,
  messages: ReadonlyArray<Listed>
) {
  return yield* Effect.forEach(messages, (message) =>
    isWritten(message)
      ? Effect.map(
          Effect.forEach(message.parts, (before) => {
            const part = shortened(before)
            if (part === undefined) return Effect.succeed(before)
            const where = { sessionID, directory, messageID: message.info.id, partID: part.id }
            return calls
              .once("shortening a part", (client, signal) => client.part.update({ ...where, part }, { signal }))
              .pipe(
                Effect.tap(Effect.logWarning(`A part of session ${sessionID} was too long and has been shortened.`)),
                Effect.tapError((error) => Effect.logWarning(error.message)),
                Effect.ignore,
                Effect.as(part)
              )
          }),
          (parts): Listed => ({ ...message, parts })
        )
      : Effect.succeed(message)
  )
})

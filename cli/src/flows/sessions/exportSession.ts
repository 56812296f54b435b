/** `reprise sessions export ID [DIR]`: `agent-sessions/<id>/session.json`, metadata and the whole conversation. */
import { resolve } from "node:path"
import { sessionFileText } from "@reprise/session-manager/transcript"
import { Effect, Option } from "effect"
import { findSession } from "../../system/findSession.ts"
import { type SessionFlags, withPlace } from "../../system/withPlace.ts"
import { okJson, say } from "../../terminal/Printer.ts"
import { conversation } from "./conversation.ts"
import { writeSessionFile } from "./writeSessionFile.ts"

export const exportSession = (
  flags: SessionFlags & { readonly id: string; readonly directory: Option.Option<string> }
) =>
  withPlace(flags, (place, remote) =>
    Effect.gen(function* () {
      const session = yield* findSession(flags.id)
      const file = yield* conversation(session, place, remote)
      const directory = resolve(Option.getOrElse(flags.directory, () => "."))
      const path = yield* writeSessionFile(directory, session.sessionId, sessionFileText(file))
      const messages = file.messages.length
      if (flags.json) return okJson({ sessionId: session.sessionId, path, messages })
      say(`${path}: ${messages} message${messages === 1 ? "" : "s"}`)
    })
  )

/** `reprise sessions export ID [DIR]`: `agent-sessions/ID/session.json`, metadata and the whole conversation. */
import { join, resolve } from "node:path"
import { replaceFile } from "@reprise/process"
import { sessionFileText } from "@reprise/session-manager/transcript"
import { Effect, Option } from "effect"
import type { ClientFlags } from "../../system/clientSystem.ts"
import { conversation } from "../../system/conversation.ts"
import { findSession } from "../../system/lookUp.ts"
import { withSessionClient } from "../../system/sessionRuntime.ts"
import { missing } from "../../terminal/CliFailure.ts"
import { okJson, say } from "../../terminal/Printer.ts"

/**
 * Writes a conversation to `agent-sessions/ID/` of a folder and returns its path; an existing file is replaced as a
 * whole. Readable by its owner only, because conversations may contain secrets.
 */
export const writeSessionFile = (directory: string, sessionId: string, text: string, name = "session.json") => {
  const folder = join(directory, "agent-sessions", sessionId)
  const path = join(folder, name)
  return Effect.tryPromise({
    try: () => replaceFile(path, text),
    catch: (cause) =>
      missing("export", `${folder} cannot be written: ${String(cause)}`, "Give another directory.", cause)
  }).pipe(Effect.as(path))
}

export const exportSession = (
  flags: ClientFlags & { readonly id: string; readonly directory: Option.Option<string> }
) =>
  withSessionClient(flags, (options) =>
    Effect.gen(function* () {
      const session = yield* findSession(flags.id)
      const file = yield* conversation(session, options)
      const directory = resolve(Option.getOrElse(flags.directory, () => "."))
      const path = yield* writeSessionFile(directory, session.sessionId, sessionFileText(file))
      const messages = file.messages.length
      if (flags.json) return okJson({ sessionId: session.sessionId, path, messages })
      say(`${path}: ${messages} message${messages === 1 ? "" : "s"}`)
    })
  )

/** `reprise sessions export ID [DIR]`: `agent-sessions/ID/session.json`, metadata and the whole conversation. */
import { mkdir } from "node:fs/promises"
import { join, relative, resolve } from "node:path"
import { sessionFileText } from "@reprise/session-manager/transcript"
import { replaceInside } from "@reprise/workspace/files"
import { Effect, Option } from "effect"
import { conversation } from "../../system/agents/conversation.ts"
import { withSessionClient } from "../../system/agents/sessionRuntime.ts"
import type { ClientFlags } from "../../system/clientSystem.ts"
import { findSession } from "../../system/lookUp/lookUp.ts"
import { missing } from "../../terminal/CliFailure.ts"
import { okJson, say } from "../../terminal/Printer.ts"

/**
 * Writes a conversation to `agent-sessions/ID/` of a folder and returns its path; an existing file is replaced as a
 * whole. Readable by its owner only, because conversations may contain secrets. `top`: the folder itself, or one above it; below it
 * no link is followed.
 */
export const writeSessionFile = (
  top: string,
  directory: string,
  sessionId: string,
  text: string,
  name = "session.json"
) => {
  const folder = join(directory, "agent-sessions", sessionId)
  const path = join(folder, name)
  return Effect.tryPromise({
    try: async () => {
      await mkdir(top, { recursive: true, mode: 0o700 })
      await replaceInside(top, relative(top, path), text, 0o600)
    },
    catch: (cause) =>
      missing(
        "export",
        `${folder} cannot be written: ${cause instanceof Error ? cause.message : String(cause)}`,
        "Give another directory.",
        cause
      )
  }).pipe(Effect.as(path))
}

/** In a repository agents can make links; elsewhere a person names a folder of their own. */
export const topFor = (directory: string, root: string): string =>
  /^\.\.(\/|$)/.test(relative(root, directory)) ? directory : root

export const exportSession = (
  flags: ClientFlags & { readonly id: string; readonly directory: Option.Option<string> }
) =>
  withSessionClient(flags, (options) =>
    Effect.gen(function* () {
      const session = yield* findSession(flags.id)
      const file = yield* conversation(session, options)
      const directory = resolve(Option.getOrElse(flags.directory, () => "."))
      const text = sessionFileText(file)
      const path = yield* writeSessionFile(topFor(directory, options.project.root), directory, session.sessionId, text)
      const messages = file.messages.length
      if (flags.json) return okJson({ sessionId: session.sessionId, path, messages })
      say(`${path}: ${messages} message${messages === 1 ? "" : "s"}`)
    })
  )

/** `reprise sessions export ID [DIR]`: `agent-sessions/<id>/session.json`, metadata and the whole conversation. */
import { mkdir, rename, writeFile } from "node:fs/promises"
import { join, resolve } from "node:path"
import { sessionFileText } from "@reprise/session-manager/transcript"
import { Effect, Option } from "effect"
import { missing } from "../CliFailure.ts"
import { okJson, say } from "../Printer.ts"
import { conversation } from "./conversation.ts"
import { findSession } from "./findSession.ts"
import { type SessionFlags, withPlace } from "./withPlace.ts"

/** Readable by its owner only: agents may have been told anything. Replaced as a whole. */
const write = async (folder: string, text: string): Promise<string> => {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, "session.json")
  const next = `${path}.${process.pid}.tmp`
  await writeFile(next, text, { mode: 0o600, flag: "wx" })
  await rename(next, path)
  return path
}

export const exportSession = (
  flags: SessionFlags & { readonly id: string; readonly directory: Option.Option<string> }
) =>
  withPlace(flags, (place, remote) =>
    Effect.gen(function* () {
      const session = yield* findSession(flags.id)
      const file = yield* conversation(session, place, remote)
      const folder = resolve(
        Option.getOrElse(flags.directory, () => "."),
        "agent-sessions",
        session.sessionId
      )
      const path = yield* Effect.tryPromise({
        try: () => write(folder, sessionFileText(file)),
        catch: (cause) =>
          missing("export", `${folder} cannot be written: ${String(cause)}`, "Name another directory.", cause)
      })
      const messages = file.messages.length
      if (flags.json) return okJson({ sessionId: session.sessionId, path, messages })
      say(`${path}: ${messages} message${messages === 1 ? "" : "s"}`)
    })
  )

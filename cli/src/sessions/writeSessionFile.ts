/** Puts a conversation into `agent-sessions/<id>/` of a folder. Readable by its owner only: agents may have been told anything. */
import { join } from "node:path"
import { replaceFile } from "@reprise/process"
import { Effect } from "effect"
import { missing } from "../CliFailure.ts"

const write = async (folder: string, name: string, text: string): Promise<string> => {
  const path = join(folder, name)
  await replaceFile(path, text)
  return path
}

/** Gives the path. A file that is there is replaced as a whole. */
export const writeSessionFile = (directory: string, sessionId: string, text: string, name = "session.json") => {
  const folder = join(directory, "agent-sessions", sessionId)
  return Effect.tryPromise({
    try: () => write(folder, name, text),
    catch: (cause) =>
      missing("export", `${folder} cannot be written: ${String(cause)}`, "Name another directory.", cause)
  })
}

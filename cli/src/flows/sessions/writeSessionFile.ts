/** Puts a conversation into `agent-sessions/<id>/` of a folder. Readable by its owner only: agents may have been told anything. */
import { mkdir, rename, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Effect } from "effect"
import { missing } from "../../terminal/CliFailure.ts"

const write = async (folder: string, name: string, text: string): Promise<string> => {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, name)
  const next = `${path}.${process.pid}.tmp`
  await rm(next, { force: true })
  await writeFile(next, text, { mode: 0o600, flag: "wx" })
  await rename(next, path)
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

/**
 * Tells the plugin in OpenCode's server which instructions of a repository the model gets in a folder, where these are not the ones
 * that are there: a file for each folder, in Reprise's state, which no command in the sandbox can write. It holds from one prompt in
 * the folder to the next, so also for the subagents of a turn, and for a human who looks into a reviewer's session.
 */
import { createHash } from "node:crypto"
import { rm } from "node:fs/promises"
import { join } from "node:path"
import { replaceFile } from "@reprise/process"
import { Effect } from "effect"
import { instructionsOf } from "../../earlierInstructions.ts"
import { onDisk } from "./OpenCodeEndpoint.ts"

/** Names the folder of these files for the plugin. */
export const instructionsVariable = "REPRISE_INSTRUCTIONS"

export const instructionsFolder = (stateDirectory: string): string => join(stateDirectory, "opencode", "instructions")

/** The plugin finds it in the same way. */
const fileOf = (folder: string, directory: string) =>
  join(folder, `${createHash("sha256").update(directory).digest("hex").slice(0, 16)}.json`)

/** `commit` absent: what is in the directory. */
export const tellInstructions = Effect.fnUntraced(function* (
  stateDirectory: string,
  directory: string,
  commit: string | undefined
) {
  const file = fileOf(instructionsFolder(stateDirectory), directory)
  if (commit === undefined) return yield* onDisk("forgetting instructions", () => rm(file, { force: true }))
  const texts = Object.fromEntries(yield* instructionsOf(stateDirectory, directory, commit))
  yield* onDisk("recording instructions", () => replaceFile(file, JSON.stringify(texts)))
})

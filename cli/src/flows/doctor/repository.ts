/** Checks that Reprise can keep its state in the repository. Nothing is written. */
import { accessSync, constants, statSync } from "node:fs"
import { Effect } from "effect"
import type { Project } from "../../project/Project.ts"
import { broken, type Finding, ok } from "./findings.ts"

/** Why the state cannot be kept there, if so. */
const obstacle = ({ directory, root }: Project): string | undefined => {
  const state = statSync(directory, { throwIfNoEntry: false })
  if (state?.isDirectory() === false) return `${directory} is not a folder.`
  const folder = state === undefined ? root : directory
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    return undefined
  } catch {
    return `${folder} is not writable.`
  }
}

export const checkRepository = (project: Project): Effect.Effect<Finding> =>
  Effect.sync(() => {
    const why = obstacle(project)
    return why === undefined
      ? ok("repository", project.root)
      : broken("repository", why, "Make it writable, or work in your own clone.")
  })

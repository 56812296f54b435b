/** The repository itself: whether Reprise can keep its state in it. Nothing is written. */
import { accessSync, constants, statSync } from "node:fs"
import { Effect } from "effect"
import type { Project } from "../../project/Project.ts"
import { broken, type Finding, ok } from "./Finding.ts"

const mend = "Make it writable for you, or work in a clone of your own."

/** Why nothing can be kept there, if so. */
const obstacle = ({ directory, root }: Project): string | undefined => {
  const state = statSync(directory, { throwIfNoEntry: false })
  if (state?.isDirectory() === false) return `${directory} is no folder.`
  const place = state === undefined ? root : directory
  try {
    accessSync(place, constants.R_OK | constants.W_OK | constants.X_OK)
    return undefined
  } catch {
    return `${place} is not writable.`
  }
}

export const lookAtRepository = (project: Project): Effect.Effect<Finding> =>
  Effect.sync(() => {
    const why = obstacle(project)
    return why === undefined ? ok("repository", project.root) : broken("repository", why, mend)
  })

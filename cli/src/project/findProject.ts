/** The project that a command works in, with a state folder that can be believed. */
import { join } from "node:path"
import { putAsideLeft } from "@reprise/sandbox/leftovers"
import { Effect } from "effect"
import { missing } from "../terminal/CliFailure.ts"
import { visibleLine } from "../terminal/visible.ts"
import { findRepository, type Project } from "./Project.ts"
import { requireOwnState } from "./stateOrigin.ts"

const notPutAside = ({ root }: Project, cause: unknown) =>
  missing(
    "unsettled-command",
    `The files that a killed command left in ${visibleLine(root)} could not be moved away: ${cause instanceof Error ? cause.message : String(cause)}`,
    "Fix that, then try again.",
    cause
  )

/**
 * The repository around a directory. Fails with exit code 3 if there is none, if its state folder was not made by this
 * machine, here, or if a killed command may have made settings that nobody can find.
 */
export const findProject = Effect.fn("findProject")(function* (from: string) {
  const project = yield* findRepository(from)
  yield* requireOwnState(project)
  // Before settings are read: a command may have made some when the process that ran it was killed.
  yield* Effect.tryPromise({
    try: () => putAsideLeft(join(project.directory, "sandbox")),
    catch: (cause) => notPutAside(project, cause)
  })
  return project
})

/** `.reprise/archive/<run>.json`: what is left of a run, or of a standalone session, that was pruned. */
import { stat } from "node:fs/promises"
import { join } from "node:path"
import { replaceFile } from "@reprise/process"
import { Effect } from "effect"
import { missing } from "../CliFailure.ts"
import type { Project } from "../project/Project.ts"
import { eventsOf } from "./RunRecord.ts"

/** Relative to the project's root. */
export const archivePath = (runId: string): string => `.reprise/archive/${runId}.json`

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    (error) => (error instanceof Error && "code" in error && error.code === "ENOENT" ? false : Promise.reject(error))
  )

/**
 * Writes the record unless it is there: then a pruning was broken off after it, and what is stored by now is less than
 * what was archived.
 */
export const archiveRun = Effect.fn("archiveRun")(function* (project: Project, runId: string, record: object) {
  const path = archivePath(runId)
  const failed = (cause: unknown) =>
    missing("archive", `${path} cannot be written; nothing of it was removed.`, "Check the disk.", cause)
  const there = yield* Effect.tryPromise({ try: () => isThere(join(project.root, path)), catch: failed })
  if (there) return path
  const events = yield* eventsOf(runId)
  const text = `${JSON.stringify({ ...record, events }, null, 2)}\n`
  yield* Effect.tryPromise({ try: () => replaceFile(join(project.root, path), text), catch: failed })
  return path
})

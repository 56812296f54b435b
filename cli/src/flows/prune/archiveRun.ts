/** `.reprise/archive/<run>.json`: what is left of a run, or of a standalone session, that was pruned. */
import { mkdir, open, rename, stat } from "node:fs/promises"
import { dirname, join } from "node:path"
import { Effect } from "effect"
import type { Project } from "../../project/Project.ts"
import { missing } from "../../terminal/CliFailure.ts"
import { eventsOf } from "./RunRecord.ts"

/** Relative to the project's root. */
export const archivePath = (runId: string): string => `.reprise/archive/${runId}.json`

/** On disk when it returns. */
const writeNew = async (path: string, text: string): Promise<void> => {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const file = await open(`${path}.tmp`, "w", 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(`${path}.tmp`, path)
  const folder = await open(dirname(path), "r")
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

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
  yield* Effect.tryPromise({ try: () => writeNew(join(project.root, path), text), catch: failed })
  return path
})

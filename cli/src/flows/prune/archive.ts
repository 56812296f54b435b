/** What is kept of a pruned run or standalone session: `.reprise/archive/ID.json` and its conversations. */
import { stat } from "node:fs/promises"
import { join } from "node:path"
import { Broker } from "@reprise/actor"
import { hasCode, replaceFile } from "@reprise/process"
import type { SessionView } from "@reprise/protocol"
import { Effect } from "effect"
import { archivePath, type Project } from "../../project/Project.ts"
import { missing } from "../../terminal/CliFailure.ts"
import { writeSessionFile } from "../sessions/sessionFile.ts"
import { eventsOf } from "./RunRecord.ts"

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    (error) => (hasCode(error, "ENOENT") ? false : Promise.reject(error))
  )

/**
 * Writes the record and returns its path. An existing record is kept: an earlier pruning was interrupted after writing
 * it, and less is stored now than was archived.
 */
export const archiveRecord = Effect.fn("archiveRecord")(function* (project: Project, runId: string, record: object) {
  const path = archivePath(runId)
  const failed = (cause: unknown) =>
    missing("archive", `${path} cannot be written; nothing was removed.`, "Check the disk.", cause)
  const archived = yield* Effect.tryPromise({ try: () => exists(join(project.root, path)), catch: failed })
  if (archived) return path
  const events = yield* eventsOf(runId)
  const text = `${JSON.stringify({ ...record, events }, null, 2)}\n`
  yield* Effect.tryPromise({ try: () => replaceFile(join(project.root, path), text), catch: failed })
  return path
})

/** `session.json` is the newest; a replaced conversation is named after its id at the runtime. */
const fileOf = (object: string, newest: string | undefined): string =>
  object === newest ? "session.json" : `session-${object.slice(object.lastIndexOf("/") + 1)}.json`

/**
 * Moves conversations from the broker to `.reprise/agent-sessions/`. Each is on disk before it is removed, so this can
 * be interrupted and repeated.
 */
export const keepConversations = Effect.fn("keepConversations")(function* (
  project: Project,
  sessions: ReadonlyArray<SessionView>
) {
  const { transcripts } = yield* Broker
  for (const { sessionId, transcript } of sessions) {
    for (const object of yield* transcripts.list(`session/${sessionId}/`)) {
      const text = yield* transcripts.get(object)
      if (text === undefined) continue
      yield* writeSessionFile(project.directory, sessionId, text, fileOf(object, transcript))
      yield* transcripts.remove(object)
    }
  }
})

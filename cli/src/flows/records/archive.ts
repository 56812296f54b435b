/** What is kept of a pruned run or standalone session: `.reprise/archive/ID.json` and its conversations. */
import { stat } from "node:fs/promises"
import { join } from "node:path"
import { Broker } from "@reprise/actor"
import { hasCode, replaceFile } from "@reprise/process"
import type { SessionView } from "@reprise/protocol"
import { readTranscript, wholeOf } from "@reprise/session-manager/readTranscript"
import { sessionFile, sessionFileText } from "@reprise/session-manager/transcript"
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
const fileOf = (whole: string, newest: string | undefined): string =>
  newest !== undefined && wholeOf(newest) === whole
    ? "session.json"
    : `session-${whole.slice(whole.lastIndexOf("/") + 1)}.json`

/** The object that a conversation is read from: the whole, the newest part that its session names, or the one stored last. */
const newestOf = (whole: string, objects: ReadonlyArray<string>, newest: string | undefined): string | undefined => {
  if (objects.includes(whole)) return whole
  return newest !== undefined && wholeOf(newest) === whole ? newest : objects.at(-1)
}

/**
 * Moves conversations from the broker to `.reprise/agent-sessions/`. Each is on disk before it is removed, so this can
 * be interrupted and repeated.
 */
export const keepConversations = Effect.fn("keepConversations")(function* (
  project: Project,
  sessions: ReadonlyArray<SessionView>
) {
  const { transcripts } = yield* Broker
  for (const view of sessions) {
    const { sessionId, transcript } = view
    const stored = yield* transcripts.list(`session/${sessionId}/`)
    for (const [whole, objects] of Map.groupBy(stored, wholeOf)) {
      const newest = newestOf(whole, objects, transcript)
      const text = newest === whole ? yield* transcripts.get(whole) : undefined
      const saved = newest === undefined || newest === whole ? undefined : yield* readTranscript(newest)
      const file = saved === undefined ? text : sessionFileText(sessionFile(view, saved.messages, saved.savedAt))
      const name = fileOf(whole, transcript)
      if (file !== undefined) yield* writeSessionFile(project.directory, project.directory, sessionId, file, name)
      // The newest goes last: without those before it, it is not read again after an interruption.
      const removed = [...objects.filter((object) => object !== newest), ...(newest === undefined ? [] : [newest])]
      yield* Effect.forEach(removed, transcripts.remove, { discard: true })
    }
  }
})

/** The conversations that are pruned, moved from the broker to `.reprise/agent-sessions/`. */
import { Broker } from "@reprise/actor"
import type { SessionView } from "@reprise/protocol"
import { Effect } from "effect"
import type { Project } from "../../project/Project.ts"
import { writeSessionFile } from "../sessions/writeSessionFile.ts"

/** `session.json` is the newest; a conversation that was replaced keeps its id at the runtime in its name. */
const fileOf = (object: string, newest: string | undefined): string =>
  object === newest ? "session.json" : `session-${object.slice(object.lastIndexOf("/") + 1)}.json`

/** Each is on disk before it is removed, so that this can be broken off and done again. */
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

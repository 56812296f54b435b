/** Archives a session: its whole conversation, from its runtime or as it was saved, becomes one object. */
import { Broker, type WorkContext } from "@reprise/actor"
import { type AgentRuntimeShape, AgentRuntimes } from "@reprise/agent"
import { addUsage, defined, maxUsage, noUsage, subtractUsage } from "@reprise/protocol"
import { Clock, Effect, Schedule } from "effect"
import type { WorkOf } from "../session/work.ts"
import { readTranscript } from "./readTranscript.ts"
import { fault, reportTo, showSession } from "./report.ts"
import { interruptSession, isAtRest, totalUsed } from "./runtimeSession.ts"
import { sessionFile, sessionFileText } from "./SessionFile.ts"

/** Somebody who is still at work in the session this long after its end is no longer waited for. */
const longestWaitMs = 10 * 60_000

/** Waits while somebody is at work in the session: what they say and what it costs belong into its archive. */
const untilAtRest = (runtime: AgentRuntimeShape, id: string) =>
  runtime
    .inspect(id)
    .pipe(
      Effect.repeat({ until: ({ state }) => isAtRest(state), schedule: Schedule.spaced("1 second") }),
      Effect.timeoutOption(longestWaitMs),
      Effect.ignore
    )

/**
 * Idempotent. Where the runtime has lost the session, what was saved of it is archived; without that its metadata alone.
 * A runtime that cannot be reached is tried again.
 */
export const saveTranscript = Effect.fn("saveTranscript")(function* (
  work: WorkOf<"SaveTranscript">,
  context: WorkContext
) {
  const { inherited = noUsage, object, runtimeSessionId, stop, usedEarlier } = work
  const runtimes = yield* AgentRuntimes
  const { transcripts } = yield* Broker
  const { tell } = yield* reportTo(context)
  const view = yield* Effect.mapError(showSession(context), fault("look the session up"))
  const runtime = yield* Effect.mapError(runtimes.get(work.runtime), fault("reach the runtime"))
  yield* stop ? interruptSession(work, context) : untilAtRest(runtime, runtimeSessionId)
  const said = yield* runtime.history(runtimeSessionId).pipe(
    Effect.catchIf(
      (error) => error.kind === "session-missing",
      () => Effect.succeed([])
    ),
    Effect.mapError(fault("read the conversation"))
  )
  const { transcript = object } = view
  const saved = yield* Effect.mapError(
    readTranscript(transcript.startsWith(`${object}/`) ? transcript : object),
    fault("read what was saved")
  )
  const isLost = said.length === 0 && saved !== undefined
  const messages = isLost ? saved.messages : said
  const savedAt = isLost ? saved.savedAt : new Date(yield* Clock.currentTimeMillis).toISOString()
  const seen = yield* totalUsed(runtime, runtimeSessionId)
  const own = seen.total === undefined ? noUsage : subtractUsage(seen.total, inherited)
  const used = maxUsage(view, addUsage(usedEarlier, own))
  const text = sessionFileText(sessionFile({ ...view, ...used, ...defined({ model: seen.model }) }, messages, savedAt))
  yield* Effect.mapError(transcripts.put(object, text), fault("store the conversation"))
  yield* tell("archived", { _tag: "RecordArchived", object, messages: messages.length, ...seen })
  // Whoever still reads a part finds the whole in its place.
  const parts = (saved?.objects ?? []).filter((part) => part.startsWith(`${object}/`))
  yield* Effect.forEach(parts, transcripts.remove, { discard: true }).pipe(
    Effect.mapError(fault("remove the parts of an archived conversation"))
  )
})

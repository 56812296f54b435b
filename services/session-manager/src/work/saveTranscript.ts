/** Reads a session's conversation from its runtime and keeps it in the object store. */
import { Broker, Messenger, type WorkContext, WorkFault } from "@reprise/actor"
import { AgentRuntimes } from "@reprise/agent"
import { SessionId } from "@reprise/protocol"
import { Clock, Effect, Result } from "effect"
import type { WorkOf } from "../actor/work.ts"
import { reportTo } from "./report.ts"
import { interruptSession, totalUsed } from "./runtimeSession.ts"
import { readSessionFile, sessionFile, sessionFileText } from "./SessionFile.ts"

const fault = (operation: string) => (cause: unknown) => new WorkFault({ operation, cause })

/**
 * Idempotent. Where the runtime has lost the session, an earlier transcript stays as it is; without one the metadata
 * alone is saved. A runtime that cannot be reached is tried again.
 */
export const saveTranscript = Effect.fn("saveTranscript")(function* (
  work: WorkOf<"SaveTranscript">,
  context: WorkContext
) {
  const { object, runtimeSessionId, stop } = work
  const messenger = yield* Messenger
  const runtimes = yield* AgentRuntimes
  const { transcripts } = yield* Broker
  const { tell } = yield* reportTo(context)
  const view = yield* messenger.show
    .sessionManager(SessionId.make(context.key))
    .pipe(Effect.mapError(fault("look the session up")))
  if (stop) yield* interruptSession(work, context)
  const runtime = yield* Effect.mapError(runtimes.get(work.runtime), fault("reach the runtime"))
  const messages = yield* runtime.history(runtimeSessionId).pipe(
    Effect.catchIf(
      (error) => error.kind === "session-missing",
      () => Effect.succeed([])
    ),
    Effect.mapError(fault("read the conversation"))
  )
  const text = messages.length > 0 ? undefined : yield* Effect.mapError(transcripts.get(object), fault("read"))
  const known = text === undefined ? undefined : Result.getOrUndefined(readSessionFile(text))
  if (known === undefined) {
    const savedAt = new Date(yield* Clock.currentTimeMillis).toISOString()
    const file = sessionFile(view, messages, savedAt)
    yield* Effect.mapError(transcripts.put(object, sessionFileText(file)), fault("store the conversation"))
  }
  const { length } = known?.messages ?? messages
  const total = messages.length === 0 ? {} : yield* totalUsed(runtime, runtimeSessionId)
  yield* tell("archived", { _tag: "RecordArchived", object, messages: length, ...total })
})

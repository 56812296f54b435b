/** Reads a session's conversation from its runtime and keeps it in the object store. */
import { Broker, Messenger, type WorkContext, WorkFault } from "@reprise/actor"
import { AgentRuntimes } from "@reprise/agent"
import { SessionView } from "@reprise/protocol"
import { Clock, Effect, Result, Schema } from "effect"
import type { SessionWork } from "../domain/messages.ts"
import { interruptSession } from "../worker/interruptSession.ts"
import { reportTo } from "../worker/reportTo.ts"
import { readSessionFile, sessionFile, sessionFileText } from "./SessionFile.ts"

type SaveTranscript = Extract<SessionWork, { readonly _tag: "SaveTranscript" }>

const readView = Schema.decodeUnknownEffect(SessionView)

const fault = (operation: string) => (cause: unknown) => new WorkFault({ operation, cause })

/**
 * Done again it stores the same. A runtime that knows nothing of the session leaves what was saved before as it is, and
 * else the metadata alone is kept. A runtime that cannot be reached is tried again.
 */
export const saveTranscript = Effect.fn("saveTranscript")(function* (work: SaveTranscript, context: WorkContext) {
  const { object, runtimeSessionId, stop } = work
  const messenger = yield* Messenger
  const runtimes = yield* AgentRuntimes
  const { transcripts } = yield* Broker
  const { tell } = yield* reportTo(context)
  const view = yield* messenger
    .query("session-manager", "show", { id: context.key })
    .pipe(Effect.flatMap(readView), Effect.mapError(fault("look the session up")))
  if (stop) yield* interruptSession({ ...work, _tag: "InterruptSession" }, context)
  const messages = yield* runtimes.get(work.runtime).pipe(
    Effect.flatMap((runtime) => runtime.history(runtimeSessionId)),
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
  yield* tell("archived", { _tag: "RecordArchived", object, messages: length })
})

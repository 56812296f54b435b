/** A session's conversation: from its archive once it has ended, from its runtime while it lives. */
import { Broker } from "@reprise/actor"
import { AgentRuntimes } from "@reprise/agent"
import type { SessionView } from "@reprise/protocol"
import { readSessionFile, type SessionFile, sessionFile } from "@reprise/session-manager/transcript"
import { Effect, Result } from "effect"
import { isOver } from "../../system/findSession.ts"
import { type Place, withRuntime } from "../../system/sessionRuntime.ts"
import { missing } from "../../terminal/CliFailure.ts"

const saved = Effect.fnUntraced(function* (object: string) {
  const { transcripts } = yield* Broker
  const text = yield* transcripts
    .get(object)
    .pipe(Effect.mapError((error) => missing("broker", error.message, "'reprise doctor' shows what is wrong.", error)))
  const file = text === undefined ? undefined : readSessionFile(text)
  return file !== undefined && Result.isSuccess(file) ? file.success : undefined
})

const live = (view: SessionView, runtimeSessionId: string, place: Place) =>
  withRuntime(
    view.runtime,
    place,
    Effect.gen(function* () {
      const runtimes = yield* AgentRuntimes
      const runtime = yield* runtimes.get(view.runtime)
      const messages = yield* runtime.history(runtimeSessionId)
      return sessionFile(view, messages, new Date().toISOString())
    })
  ).pipe(
    Effect.mapError((error) =>
      missing(
        "conversation",
        `The conversation of ${view.sessionId} cannot be read from ${view.runtime}: ${error.message}`,
        "'reprise doctor' looks at the runtimes.",
        error
      )
    )
  )

/** `remote`: the services run elsewhere, and so does the runtime. */
export const conversation = Effect.fn("conversation")(function* (view: SessionView, place: Place, remote: boolean) {
  const { runtimeSessionId, sessionId, transcript } = view
  const kept = transcript === undefined ? undefined : yield* saved(transcript)
  if (kept !== undefined && (isOver(view) || remote)) return kept
  if (runtimeSessionId === undefined) return sessionFile(view, [], new Date().toISOString()) satisfies SessionFile
  if (remote) {
    return yield* missing(
      "not-saved",
      `The conversation of ${sessionId} is on host ${view.host} and was not saved yet.`,
      "It is saved when the session is paused or ends; or run this command on that host."
    )
  }
  const read = yield* Effect.result(live(view, runtimeSessionId, place))
  if (Result.isSuccess(read)) return read.success
  // The runtime lost it, or does not start: what was saved last is better than nothing.
  return kept ?? (yield* read.failure)
})

/** A session's conversation: from the archive if the session has ended, else from its runtime. */
import { Broker } from "@reprise/actor"
import { AgentRuntimes } from "@reprise/agent"
import type { SessionView } from "@reprise/protocol"
import { readSessionFile, type SessionFile, sessionFile } from "@reprise/session-manager/transcript"
import { Effect, Result } from "effect"
import { isOver } from "../../system/lookUp.ts"
import { type SystemOptions, usesRemote } from "../../system/System.ts"
import { withRuntime } from "../../system/sessionRuntime.ts"
import { missing } from "../../terminal/CliFailure.ts"

const readArchive = Effect.fnUntraced(function* (object: string) {
  const { transcripts } = yield* Broker
  const text = yield* transcripts
    .get(object)
    .pipe(Effect.mapError((error) => missing("broker", error.message, "'reprise doctor' shows what is wrong.", error)))
  const file = text === undefined ? undefined : readSessionFile(text)
  return file !== undefined && Result.isSuccess(file) ? file.success : undefined
})

const readRuntime = (view: SessionView, runtimeSessionId: string, options: SystemOptions) =>
  withRuntime(
    view.runtime,
    options,
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
        "'reprise doctor' checks the runtimes.",
        error
      )
    )
  )

export const conversation = Effect.fn("conversation")(function* (view: SessionView, options: SystemOptions) {
  const { runtimeSessionId, sessionId, transcript } = view
  const remote = usesRemote(options)
  const archived = transcript === undefined ? undefined : yield* readArchive(transcript)
  if (archived !== undefined && (isOver(view) || remote)) return archived
  if (runtimeSessionId === undefined) return sessionFile(view, [], new Date().toISOString()) satisfies SessionFile
  if (remote) {
    return yield* missing(
      "not-saved",
      `The conversation of ${sessionId} is on host ${view.host} and has not been saved yet.`,
      "It is saved when the session is paused or ends; or run this command on that host."
    )
  }
  const read = yield* Effect.result(readRuntime(view, runtimeSessionId, options))
  if (Result.isSuccess(read)) return read.success
  // The runtime lost the session or does not start: what was saved last is better than nothing.
  return archived ?? (yield* read.failure)
})

/** A session's conversation: from the archive if the session has ended, else from its runtime. */
import { AgentRuntimes } from "@reprise/agent"
import type { RuntimeId, SessionView } from "@reprise/protocol"
import { readTranscript } from "@reprise/session-manager/readTranscript"
import { type SessionFile, sessionFile } from "@reprise/session-manager/transcript"
import { Effect, Result } from "effect"
import { missing } from "../../terminal/CliFailure.ts"
import { isOver } from "../../views/ended.ts"
import { type SystemOptions, usesRemote } from "../SystemOptions.ts"
import { withRuntime } from "./sessionRuntime.ts"

/** The conversation as it was saved last. */
const readSaved = (view: SessionView, object: string) =>
  readTranscript(object).pipe(
    Effect.map((saved) => (saved === undefined ? undefined : sessionFile(view, saved.messages, saved.savedAt))),
    Effect.mapError((error) => missing("broker", error.message, "'reprise doctor' shows what is wrong.", error))
  )

const readRuntime = (view: SessionView, runtimeSessionId: RuntimeId, options: SystemOptions) =>
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
  const saved = transcript === undefined ? undefined : yield* readSaved(view, transcript)
  if (saved !== undefined && (isOver(view) || remote)) return saved
  if (runtimeSessionId === undefined) return sessionFile(view, [], new Date().toISOString()) satisfies SessionFile
  if (remote) {
    return yield* missing(
      "not-saved",
      `The conversation of ${sessionId} is on host ${view.host} and has not been saved yet.`,
      "It is saved at the end of each turn; or run this command on that host."
    )
  }
  const read = yield* Effect.result(readRuntime(view, runtimeSessionId, options))
  if (Result.isSuccess(read)) return read.success
  // The runtime lost the session or does not start: what was saved last is better than nothing.
  return saved ?? (yield* read.failure)
})

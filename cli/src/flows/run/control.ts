/** `reprise pause|resume|abort RUN`; `resume` also ends the wait of a run that waits for its model's vendor. */
import { Messenger, Refused } from "@reprise/actor"
import { type Addressed, type CommandOf, type PublicEvent, type RunId, type SessionView, to } from "@reprise/protocol"
import { Effect, Option } from "effect"
import { type ClientFlags, withWritingClient } from "../../system/clientSystem.ts"
import { findPostponed, findRun } from "../../system/lookUp/lookUp.ts"
import { runToChange } from "../../system/lookUp/meantRun.ts"
import { type CommandId, newCommandId } from "../../system/names.ts"
import { missing, wrongUse } from "../../terminal/CliFailure.ts"
import { okJson, say } from "../../terminal/Printer.ts"

/** Without a run, the only open one is meant. */
interface Flags extends ClientFlags {
  readonly run: Option.Option<string>
}

type Control = "PauseRun" | "ResumeRun" | "AbortRun"

const refusedOrPending = (hint: string) => ({
  Refused: (refused: Refused) => wrongUse("refused", refused.reason, hint, refused),
  NoAnswer: () => Effect.succeed(undefined)
})

const retrying = (run: string): string =>
  `${run} retries: now if a process runs it, otherwise with the next 'reprise run' or 'reprise up'.`

/** The event that shows the command's effect; undefined if none comes in time. */
const control = Effect.fnUntraced(function* (
  run: string,
  commandId: CommandId,
  commandTo: (runId: RunId) => Addressed<"orchestrator", Extract<CommandOf<"orchestrator">, { _tag: Control }>>
) {
  const messenger = yield* Messenger
  const { runId } = yield* findRun(run)
  return yield* messenger
    .ask(commandTo(runId), { ...commandId, timeout: "10 seconds" })
    .pipe(Effect.catchTags(refusedOrPending(`'reprise status ${runId}' shows the run.`)))
})

const report = ({ json }: ClientFlags, run: string, event: PublicEvent | undefined, sentence: string) => {
  if (json) okJson({ runId: run, state: event?._tag ?? "pending" })
  else say(sentence)
}

export const pause = (flags: Flags & { readonly now: boolean }) => {
  const commandId = newCommandId("control")
  return withWritingClient(
    flags,
    Effect.gen(function* () {
      const run = yield* runToChange(flags.run)
      const event = yield* control(run, commandId, (runId) => to.orchestrator(runId).PauseRun({ now: flags.now }))
      const pending = `Run ${run} will pause after its current turn, once a process runs it.`
      const paused = `Run ${run} is paused. Continue: reprise resume ${run}`
      report(flags, run, event, event === undefined ? pending : paused)
    })
  )
}

/** A human does not want to wait for the model's vendor. */
const retryTurn = Effect.fnUntraced(function* (
  { runId, sessionId, turnId }: Pick<SessionView, "runId" | "sessionId" | "turnId">,
  commandId: CommandId
) {
  if (turnId === undefined) return undefined
  const messenger = yield* Messenger
  return yield* messenger
    .ask(to.sessionManager(sessionId).RetryTurn({ turnId }), { ...commandId, subject: runId, timeout: "10 seconds" })
    .pipe(Effect.catchTags(refusedOrPending(`'reprise sessions show ${sessionId}' shows the session.`)))
})

/** A run that is paused, or is to pause, goes on; another one whose turn waits tries again now. */
export const resume = (flags: Flags) => {
  const commandId = newCommandId("control")
  const retryId = newCommandId("control")
  return withWritingClient(
    flags,
    Effect.gen(function* () {
      const run = yield* runToChange(flags.run)
      const session = yield* findPostponed(run)
      const retry =
        session === undefined
          ? undefined
          : Effect.map(retryTurn(session, retryId), (event) =>
              report(flags, run, event, event === undefined ? `${run} was asked to retry.` : retrying(run))
            )
      // A standalone session has no run that could be paused.
      if (retry !== undefined && session?.prompt !== undefined) return yield* retry
      const commandTo = (runId: RunId) => to.orchestrator(runId).ResumeRun()
      const pending = `Run ${run} was asked to continue.`
      const resumed = `Run ${run} will continue: now if 'reprise up' is running, otherwise with the next 'reprise run'.`
      const continued = Effect.map(control(run, commandId, commandTo), (event) =>
        report(flags, run, event, event === undefined ? pending : resumed)
      )
      if (retry === undefined) return yield* continued
      return yield* Effect.catchIf(
        continued,
        ({ cause }) => cause instanceof Refused && cause.code === "not-paused",
        () => retry
      )
    })
  )
}

/** The run must be named: what this ends cannot be continued. */
export const abort = (flags: ClientFlags & { readonly run: string; readonly reason: string }) => {
  const commandId = newCommandId("control")
  return withWritingClient(
    flags,
    Effect.gen(function* () {
      const run = yield* runToChange(Option.some(flags.run))
      const event = yield* control(run, commandId, (runId) => to.orchestrator(runId).AbortRun({ reason: flags.reason }))
      if (event === undefined) {
        return yield* missing(
          "no-answer",
          `The orchestrator did not confirm that run ${run} is aborted.`,
          "'reprise doctor' shows what is wrong."
        )
      }
      report(flags, run, event, `Run ${run} is aborted; its workspace is kept.`)
    })
  )
}

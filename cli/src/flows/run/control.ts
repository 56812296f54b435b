/** `reprise pause|resume|abort RUN` */
import { Messenger } from "@reprise/actor"
import { type Addressed, type CommandOf, type PublicEvent, type RunId, to } from "@reprise/protocol"
import { Effect } from "effect"
import { type ClientFlags, withWritingClient } from "../../system/clientSystem.ts"
import { findRun } from "../../system/lookUp.ts"
import { type CommandId, newCommandId } from "../../system/names.ts"
import { missing, wrongUse } from "../../terminal/CliFailure.ts"
import { okJson, say } from "../../terminal/Printer.ts"

interface Flags extends ClientFlags {
  readonly run: string
}

type Control = "PauseRun" | "ResumeRun" | "AbortRun"

/** The event that shows the command's effect; undefined if none comes in time. */
const control = Effect.fnUntraced(function* (
  flags: Flags,
  commandId: CommandId,
  commandTo: (runId: RunId) => Addressed<"orchestrator", Extract<CommandOf<"orchestrator">, { _tag: Control }>>
) {
  const messenger = yield* Messenger
  const { runId } = yield* findRun(flags.run)
  return yield* messenger.ask(commandTo(runId), { ...commandId, timeout: "10 seconds" }).pipe(
    Effect.catchTags({
      Refused: ({ reason }) => wrongUse("refused", reason, `'reprise status ${runId}' shows the run.`),
      NoAnswer: () => Effect.succeed(undefined)
    })
  )
})

const report = ({ json, run }: Flags, event: PublicEvent | undefined, sentence: string) => {
  if (json) okJson({ runId: run, state: event?._tag ?? "pending" })
  else say(sentence)
}

export const pause = (flags: Flags & { readonly now: boolean }) => {
  const commandId = newCommandId("control")
  return withWritingClient(
    flags,
    Effect.gen(function* () {
      const event = yield* control(flags, commandId, (runId) => to.orchestrator(runId).PauseRun({ now: flags.now }))
      const pending = `Run ${flags.run} will pause after its current turn, once a process runs it.`
      const paused = `Run ${flags.run} is paused. Continue: reprise resume ${flags.run}`
      report(flags, event, event === undefined ? pending : paused)
    })
  )
}

export const resume = (flags: Flags) => {
  const commandId = newCommandId("control")
  return withWritingClient(
    flags,
    Effect.gen(function* () {
      const event = yield* control(flags, commandId, (runId) => to.orchestrator(runId).ResumeRun())
      const pending = `Run ${flags.run} was asked to continue.`
      const resumed = `Run ${flags.run} will continue: now if 'reprise up' is running, otherwise with the next 'reprise run'.`
      report(flags, event, event === undefined ? pending : resumed)
    })
  )
}

export const abort = (flags: Flags & { readonly reason: string }) => {
  const commandId = newCommandId("control")
  return withWritingClient(
    flags,
    Effect.gen(function* () {
      const event = yield* control(flags, commandId, (runId) =>
        to.orchestrator(runId).AbortRun({ reason: flags.reason })
      )
      if (event === undefined) {
        return yield* missing(
          "no-answer",
          `The orchestrator did not confirm that run ${flags.run} is aborted.`,
          "'reprise doctor' shows what is wrong."
        )
      }
      report(flags, event, `Run ${flags.run} is aborted; its workspace is kept.`)
    })
  )
}

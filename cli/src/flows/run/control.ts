/** `reprise pause|resume|abort RUN` */
import { Messenger } from "@reprise/actor"
import type { OrchestratorCommand, PublicEvent, PublicEventType } from "@reprise/protocol"
import { Effect, Option, Stream } from "effect"
import { type ClientFlags, withClient } from "../../system/clientSystem.ts"
import { findRun } from "../../system/lookUp.ts"
import { type CommandId, newCommandId } from "../../system/names.ts"
import { missing, wrongUse } from "../../terminal/CliFailure.ts"
import { okJson, say } from "../../terminal/Printer.ts"

interface Flags extends ClientFlags {
  readonly run: string
}

type Control = Extract<typeof OrchestratorCommand.Type, { readonly _tag: "PauseRun" | "ResumeRun" | "AbortRun" }>
/** The run's id comes with the flags. */
type WithoutRun<Command> = Command extends unknown ? Omit<Command, "runId"> : never

/** The first event that shows the command's effect; undefined if none comes in time. */
const control = Effect.fnUntraced(function* (
  flags: Flags,
  command: WithoutRun<Control>,
  { id, since }: CommandId,
  effects: ReadonlyArray<PublicEventType>
) {
  const messenger = yield* Messenger
  const { runId } = yield* findRun(flags.run)
  yield* messenger.send("orchestrator", runId, { ...command, runId }, { id })
  const outcome = yield* messenger.events({ runId, services: ["orchestrator"], from: { since } }).pipe(
    Stream.filter(({ event, meta }) => meta.causation === id || effects.includes(event._tag)),
    Stream.runHead,
    Effect.timeoutOption("10 seconds")
  )
  const event = Option.getOrUndefined(Option.flatten(outcome))?.event
  if (event?._tag === "CommandRefused") {
    return yield* wrongUse("refused", event.reason, `'reprise status ${runId}' shows the run.`)
  }
  return event
})

const report = ({ json, run }: Flags, event: PublicEvent | undefined, sentence: string) => {
  if (json) okJson({ runId: run, state: event?._tag ?? "pending" })
  else say(sentence)
}

export const pause = (flags: Flags & { readonly now: boolean }) => {
  const commandId = newCommandId("control")
  return withClient(
    flags,
    Effect.gen(function* () {
      const event = yield* control(flags, { _tag: "PauseRun", now: flags.now }, commandId, ["RunPaused"])
      const pending = `${flags.run} will pause after the current turn, once a process runs it.`
      const paused = `Run ${flags.run} is paused. Continue: reprise resume ${flags.run}`
      report(flags, event, event === undefined ? pending : paused)
    })
  )
}

export const resume = (flags: Flags) => {
  const commandId = newCommandId("control")
  return withClient(
    flags,
    Effect.gen(function* () {
      const event = yield* control(flags, { _tag: "ResumeRun" }, commandId, ["StepStarted", "StepResumed"])
      const pending = `Run ${flags.run} was asked to continue.`
      const resumed = `${flags.run} will continue: now if 'reprise up' is running, otherwise with the next 'reprise run'.`
      report(flags, event, event === undefined ? pending : resumed)
    })
  )
}

export const abort = (flags: Flags & { readonly reason: string }) => {
  const commandId = newCommandId("control")
  return withClient(
    flags,
    Effect.gen(function* () {
      const event = yield* control(flags, { _tag: "AbortRun", reason: flags.reason }, commandId, ["RunAborted"])
      if (event === undefined) {
        return yield* missing(
          "no-answer",
          `The orchestrator did not confirm that ${flags.run} is aborted.`,
          "'reprise doctor' shows what is wrong."
        )
      }
      report(flags, event, `Run ${flags.run} is aborted; its workspace is kept.`)
    })
  )
}

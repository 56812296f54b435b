/** `reprise pause|resume|abort RUN` */
import { Messenger, type Tagged } from "@reprise/actor"
import { isKey, type PublicEvent } from "@reprise/protocol"
import { Effect, Option, Stream } from "effect"
import { withReading } from "../../system/clientSystem.ts"
import { type Letter, newLetter } from "../../system/commandId.ts"
import { missing, wrongUse } from "../../terminal/CliFailure.ts"
import { okJson, say } from "../../terminal/Printer.ts"

interface Flags {
  readonly run: string
  readonly json: boolean
  readonly nats: Option.Option<string>
}

const control = Effect.fnUntraced(function* <Command extends Tagged>(
  flags: Flags,
  command: Command,
  { id, since }: Letter,
  done: ReadonlyArray<PublicEvent["_tag"]>
) {
  const messenger = yield* Messenger
  if (!isKey(flags.run)) return yield* unknownRun(flags.run)
  yield* messenger.query("orchestrator", "show", { id: flags.run }).pipe(
    Effect.catchIf(
      (failed) => failed.code === "not-found",
      () => unknownRun(flags.run)
    )
  )
  yield* messenger.send("orchestrator", flags.run, { ...command, runId: flags.run }, { id })
  const outcome = yield* messenger.events({ runId: flags.run, services: ["orchestrator"], from: { since } }).pipe(
    Stream.filter(({ event, meta }) => meta.causation === id || done.includes(event._tag)),
    Stream.runHead,
    Effect.timeoutOption("10 seconds")
  )
  const event = Option.getOrUndefined(Option.flatten(outcome))?.event
  if (event?._tag === "CommandRefused") {
    return yield* wrongUse("refused", event.reason, `'reprise status ${flags.run}' shows where the run stands.`)
  }
  return event
})

const unknownRun = (run: string) =>
  wrongUse(
    "unknown-run",
    `There is no run '${run.slice(0, 80)}'.`,
    "'reprise status' lists the runs of this repository."
  )

const report = (flags: Flags, event: PublicEvent | undefined, done: string, pending: string) => {
  if (flags.json) okJson({ runId: flags.run, state: event?._tag ?? "pending" })
  else say(event === undefined ? pending : done)
}

export const pause = (flags: Flags & { readonly now: boolean }) =>
  withReading(
    flags,
    control(flags, { _tag: "PauseRun", now: flags.now }, newLetter("control"), ["RunPaused"]).pipe(
      Effect.map((event) =>
        report(
          flags,
          event,
          `Run ${flags.run} is paused; 'reprise resume ${flags.run}' lets it go on.`,
          `Run ${flags.run} pauses when its turn is done.`
        )
      )
    )
  )

export const resume = (flags: Flags) =>
  withReading(
    flags,
    control(flags, { _tag: "ResumeRun" }, newLetter("control"), ["StepStarted", "StepResumed"]).pipe(
      Effect.map((event) =>
        report(
          flags,
          event,
          `Run ${flags.run} goes on where it runs, or with the next 'reprise run'.`,
          `Run ${flags.run} was asked to go on.`
        )
      )
    )
  )

export const abort = (flags: Flags & { readonly reason: string }) =>
  withReading(
    flags,
    control(flags, { _tag: "AbortRun", reason: flags.reason }, newLetter("control"), ["RunAborted"]).pipe(
      Effect.flatMap((event) =>
        event === undefined
          ? missing(
              "no-answer",
              `The orchestrator did not say what became of ${flags.run}.`,
              "'reprise doctor' shows what is wrong."
            )
          : Effect.sync(() => report(flags, event, `Run ${flags.run} is aborted; its workspace is kept.`, ""))
      )
    )
  )

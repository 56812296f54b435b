/** `reprise gate answer ID CHOICE [--guidance TEXT|-]` */
import { buffer } from "node:stream/consumers"
import { parseAnswer, readAgent } from "@reprise/gate/typedAnswer"
import { defined, type EscalationOption, type EscalationView, hasAgentOptions, isStandalone } from "@reprise/protocol"
import { Effect, Option } from "effect"
import { type ClientFlags, withWritingClient } from "../../system/clientSystem.ts"
import { findQuestion } from "../../system/lookUp/lookUp.ts"
import { newCommandId, newSessionId } from "../../system/names.ts"
import { type CliFailure, wrongUse } from "../../terminal/CliFailure.ts"
import { okJson, say } from "../../terminal/Printer.ts"
import type { Answer } from "../../views/gate/GateModel.ts"
import { forkAtQuestion, forkedText, type WantedFork } from "../forks/forkAtQuestion.ts"
import { answerQuestion } from "./answerQuestion.ts"

interface Flags extends ClientFlags {
  readonly id: string
  readonly choice: string
  readonly guidance: Option.Option<string>
  readonly runtime: Option.Option<string>
  readonly model: Option.Option<string>
  readonly variant: Option.Option<string>
  readonly commit: Option.Option<string>
  readonly at: Option.Option<number>
}

const noText = (where: string) =>
  wrongUse(
    "not-text",
    `The guidance ${where} is not UTF-8 text, so part of it would be lost.`,
    "Write it again, or convert it to UTF-8."
  )

/** Fails with exit code 2 when the bytes are not UTF-8: nobody would notice that some were replaced. */
export const guidanceText = (bytes: Uint8Array) =>
  Effect.try({
    try: () => new TextDecoder("utf-8", { fatal: true }).decode(bytes),
    catch: () => noText("on standard input")
  })

/** Of an argument that is not UTF-8, this process only sees what its bytes were replaced with. */
const guidanceArgument = (guidance: string) =>
  guidance.includes("\ufffd") ? Effect.fail(noText("in --guidance")) : Effect.succeed(guidance)

const readGuidance = (given: Option.Option<string>) =>
  Option.match(given, {
    onNone: () => Effect.succeed(undefined),
    onSome: (guidance) =>
      guidance === "-"
        ? Effect.flatMap(
            Effect.promise(() => buffer(process.stdin)),
            guidanceText
          )
        : guidanceArgument(guidance)
  })

/** What happens next, for the human who answered. */
export const nextStep = (question: EscalationView, choice: string): string => {
  const work = isStandalone(question) ? "session" : "run"
  if (choice === "abort" && !hasAgentOptions(question)) return `The ${work} ends.`
  if (choice === "pause" && question.origin === "phase-gate") return `'reprise resume ${question.runId}' continues it.`
  return work === "session"
    ? "The session continues now if it or 'reprise up' is running; otherwise repeat 'reprise sessions start'."
    : "The run continues now if 'reprise up' or 'reprise run' is running; otherwise start one."
}

/** Who is to take over, as the flags name it; fails with exit code 2 where nobody can be named, or not so. */
const agentOf = ({ id, model, runtime, variant }: Flags, option: EscalationOption) => {
  const named = {
    model: Option.getOrUndefined(model),
    runtime: Option.getOrUndefined(runtime),
    variant: Option.getOrUndefined(variant)
  }
  return Effect.fromResult(readAgent(option, named)).pipe(
    Effect.catch((why) => Effect.fail(wrongUse("unusable-agent", why, `'reprise gate show ${id}' shows the question.`)))
  )
}

/** What is to be forked, as it was typed; undefined: it is an answer. */
const wantedFork = (flags: Flags, question: EscalationView, guidance: string | undefined): WantedFork | undefined => {
  const typed = parseAnswer(flags.choice, question)
  if (typed._tag !== "Fork") return undefined
  const at = Option.getOrUndefined(flags.at) ?? typed.at
  const words = guidance ?? typed.words
  return { ...defined({ words, at }) }
}

/** The choice and guidance as the user typed them; fails with exit code 2 if that is not a valid answer. */
const readAnswer = Effect.fnUntraced(function* (
  flags: Flags,
  question: EscalationView,
  given: Effect.Effect<string | undefined, CliFailure>
) {
  const typed = parseAnswer(flags.choice, question)
  if (typed._tag !== "Chosen") {
    const why = typed._tag === "AskAgain" ? typed.message : `'${flags.choice}' shows evidence; it is not an answer.`
    return yield* wrongUse("not-an-option", why, `'reprise gate show ${flags.id}' shows the choices.`)
  }
  const choice = typed.option.name
  const guidance = (yield* given) ?? typed.guidance
  if (typed.option.guidance === "required" && (guidance ?? "").trim() === "") {
    return yield* wrongUse(
      "guidance-missing",
      `'${choice}' needs guidance.`,
      "Add --guidance TEXT, or --guidance - to read standard input."
    )
  }
  const agent = { ...typed.named, ...(yield* agentOf(flags, typed.option)) }
  const commit = Option.getOrUndefined(flags.commit)
  return {
    choice,
    ...defined({ guidance, commit }),
    ...agent
  } satisfies Answer
})

export const giveAnswer = Effect.fn("giveAnswer")(function* (flags: Flags) {
  const commandId = newCommandId("answer")
  const forkId = newSessionId()
  // Standard input can be read only once, and the rest may run again.
  const given = yield* Effect.cached(readGuidance(flags.guidance))
  yield* withWritingClient(
    flags,
    Effect.gen(function* () {
      const question = yield* findQuestion(flags.id)
      const wanted = wantedFork(flags, question, yield* given)
      if (wanted !== undefined) {
        const fork = yield* forkAtQuestion(question, wanted, forkId)
        return flags.json ? okJson({ escalationId: flags.id, fork }) : say(forkedText(fork))
      }
      const answer = yield* readAnswer(flags, question, given)
      yield* answerQuestion(question, answer, "cli", commandId)
      if (flags.json) return okJson({ escalationId: flags.id, ...answer })
      say(`Answered ${flags.id}: ${answer.choice}. ${nextStep(question, answer.choice)}`)
    })
  )
})

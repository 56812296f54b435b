/** What a human's answer leads to (docs/design/run-machine.md#the-run-machine-orchestrator). */
import { refusing } from "@reprise/actor"
import { defined, type SessionId, type Step, type Words } from "@reprise/protocol"
import { changeAuthor, changeModel } from "../agents/model.ts"
import { resolveCheckpoint } from "../checkpoint/checkpoint.ts"
import { redoMissing, verifyAgain } from "../checkpoint/continuation.ts"
import { finishApproved, overridePhase } from "../phase/finish.ts"
import type { InputOf } from "../run/inputs.ts"
import type { RunEvent, RunEvents } from "../run/journal.ts"
import { isBlank } from "../run/ledger.ts"
import { after, enter, type Move, next, nextInPhase, type Outcome, outcome } from "../run/moves.ts"
import type { Question, Retry } from "../run/question.ts"
import { isReviewerOf } from "../run/reviewer.ts"
import { locationOf } from "../run/standalone.ts"
import type { PhaseRun, Run } from "../run/state.ts"
import { shorten } from "../run/text.ts"
import { askAgain } from "./escalate.ts"
import { grant } from "./retry.ts"

type Answer = InputOf<"AnswerReceived">

const resumed = (run: Run): RunEvent => ({
  _tag: "StepResumed",
  ...locationOf(run),
  ...defined({ step: run.step }),
  cause: "answer"
})

/** What a human said with an answer. `phase` absent: for the next phase. */
const kept = ({ by, guidance }: Answer, { givenTo, ...to }: Partial<Words> & { givenTo?: SessionId }): RunEvents =>
  isBlank(guidance)
    ? []
    : [
        {
          _tag: "WordsKept",
          words: { from: "human", by, for: "both", ...to, text: guidance },
          ...defined({ givenTo })
        }
      ]

/**
 * Who reads what is said with an answer that leads to this step: of the phase's review only the reviewer. When the phase is
 * approved, and only has to be finished, it is for the next one.
 */
const readers = (run: Run, phase: PhaseRun, { command }: Retry, step: Step): Partial<Words> => {
  if (run.step === "PHASE_COMPLETE" || command?._tag === "FinishPhase") return {}
  return { phase: phase.id, for: step === "REVIEW" ? "reviewer" : "both" }
}

/** A human ends the run and may say why. */
const abort = ({ by, guidance, via }: Answer): Move => ({
  _tag: "Abort",
  reason: `aborted by ${by} through ${via}${guidance === undefined ? "" : `: ${guidance}`}`
})

/** What an answer leads to, by the kind of its question. The question is closed already. */
type Handler = (run: Run, phase: PhaseRun, question: Question, answer: Answer) => Outcome

const stepAnswered: Handler = (run, phase, question, answer) => {
  const { ask, brief, changesModelOf, retry } = question
  const { guidance } = answer
  const namesAuthor = [answer.runtime, answer.model, answer.variant].some((name) => name !== undefined)
  const step = isBlank(guidance) && !namesAuthor ? retry.step : (retry.withGuidance ?? retry.step)
  switch (answer.choice) {
    case "continue-session":
      return ask.sessionId === undefined
        ? outcome([])
        : outcome(
            [...kept(answer, readers(run, phase, retry, retry.step)), ...grant(retry), resumed(run)],
            enter(retry.step, "continue", { _tag: "continue", sessionId: ask.sessionId, brief })
          )
    case "fix":
      return outcome(
        [...kept(answer, readers(run, phase, retry, step)), ...changeAuthor(run, phase, step, answer), resumed(run)],
        {
          _tag: "Retry",
          retry: { ...retry, step },
          cause: "fix"
        }
      )
    case "change-model": {
      const model = guidance?.trim() ?? ""
      const { guidance: _, ...rest } = answer
      const next = { ...rest, choice: ask.sessionId === undefined ? "fix" : "continue-session" }
      const goesOn = stepAnswered(run, phase, question, next)
      const changed = changesModelOf === undefined ? [] : changeModel(run, { model, role: changesModelOf })
      return after(changed, goesOn)
    }
    default:
      // Override. Nothing is left to approve in a phase that is complete already: the run just goes on.
      return run.step === "PHASE_COMPLETE"
        ? outcome([...kept(answer, {}), resumed(run)], { _tag: "NextPhase" })
        : outcome([resumed(run), ...overridePhase(run, phase, answer.by, guidance)])
  }
}

const checkpointAnswered: Handler = (run, phase, _question, { by, choice, guidance }) => {
  if (phase.checkpoint === undefined) return outcome([])
  return after([resumed(run)], resolveCheckpoint(run, phase, phase.checkpoint, { choice, text: guidance, by }))
}

const continuationAnswered: Handler = (run, phase, _question, answer) =>
  outcome([
    ...kept(answer, { phase: phase.id }),
    resumed(run),
    ...(answer.choice === "redo" ? redoMissing(run, phase) : verifyAgain(run, phase))
  ])

/** The phase is approved: what is said now is for the next one. */
const phaseGateAnswered: Handler = (run, phase, _question, answer) =>
  answer.choice === "pause"
    ? outcome([...kept(answer, {}), { _tag: "RunPaused", ...locationOf(run), step: "PHASE_GATE" }])
    : outcome([...kept(answer, {}), resumed(run), finishApproved(run, phase)])

/**
 * An option's own name goes back to the runtime; free text in place of `other`. The words of a rejection go with it, any
 * others into the agent's next prompt.
 */
const promptAnswered: Handler = (run, phase, { prompt }, answer) => {
  if (prompt === undefined) return outcome([])
  const { choice, guidance } = answer
  const { kind, promptId, sessionId, text } = prompt
  const asText = choice === "other" && guidance !== undefined
  const message = kind === "permission" && choice === "reject" && !isBlank(guidance) ? guidance : undefined
  const words = kept(answer, {
    phase: phase.id,
    for: isReviewerOf(run, phase, sessionId) ? "reviewer" : "author",
    about: `On the ${kind} '${shorten(text, 120)}' (${choice})`,
    ...(message === undefined ? {} : { givenTo: sessionId })
  })
  const replied: RunEvent = {
    _tag: "PromptReplied",
    sessionId,
    promptId,
    reply: asText ? guidance : choice,
    ...defined({ message })
  }
  return outcome([...(asText ? [] : words), resumed(run), replied], { _tag: "NextPrompt" })
}

const handlers: Readonly<Record<Question["kind"], Handler>> = {
  step: stepAnswered,
  checkpoint: checkpointAnswered,
  continuation: continuationAnswered,
  "phase-gate": phaseGateAnswered,
  prompt: promptAnswered
}

/** An agent's own option may be called abort without ending the run. */
const endsRun = ({ ask, kind }: Question, choice: string): boolean =>
  choice === "abort" && kind !== "prompt" && !(kind === "checkpoint" && ask.evidence.checkpoint?.type === "decision")

const notAChoice = ({ choice }: Answer): string => `The answer '${choice}' is not, or no longer, one of the choices`

/** The gate has closed the question. An answer that cannot be taken keeps its guidance, and the question is asked again. */
const askedAgain = (run: Run, question: Question, answered: RunEvent, answer: Answer, why: string): Outcome => {
  const noted: RunEvent = { _tag: "Noted", text: `${why}: the question is asked again.` }
  const to = run.phase === undefined ? {} : readers(run, run.phase, question.retry, question.retry.step)
  return outcome(
    [answered, ...kept(answer, to), noted],
    next((run) => askAgain(run, question))
  )
}

/** The name of a model is one word. */
const isModelName = (text = ""): boolean => /^\s*\S+\s*$/.test(text)

export const answerReceived = (run: Run, question: Question, answer: Answer): Outcome => {
  const { by, choice, escalationId, guidance, via } = answer
  const answered: RunEvent = {
    _tag: "QuestionAnswered",
    escalationId,
    choice,
    by,
    via,
    ...defined({ guidance })
  }
  const option = question.ask.options.find(({ keys, name }) => name === choice || keys.includes(choice))
  if (option === undefined || run.phase === undefined)
    return askedAgain(run, question, answered, answer, notAChoice(answer))
  if (option.name === "change-model" && !isModelName(guidance)) {
    return askedAgain(run, question, answered, answer, `'${shorten(guidance ?? "", 80)}' does not name a model`)
  }
  const { name } = option
  return outcome(
    [answered],
    endsRun(question, name)
      ? abort(answer)
      : nextInPhase((run, phase) => handlers[question.kind](run, phase, question, { ...answer, choice: name }))
  )
}

/**
 * An answer that crossed the run's own withdrawal of its question: the gate had recorded it. The run goes on as it does,
 * and what was said reaches the agents (docs/design/gate.md#the-gate-where-humans-answer), unless it is the reason of an
 * abort or an override. Undefined: there is nothing to keep.
 */
export const overruledAnswer = (run: Run, answer: Answer): RunEvents | undefined => {
  const { by, choice, escalationId, guidance, via } = answer
  const isReason = choice === "abort" || choice === "override"
  if (isBlank(guidance) || isReason || !run.withdrawn.includes(escalationId)) return undefined
  const phase = run.phase === undefined ? {} : { phase: run.phase.id }
  return [{ _tag: "AnswerOverruled", escalationId, choice, by, via }, ...kept(answer, phase)]
}

/** What a human answered while the run was paused: the question is moot, the words are not. */
export const keepHeldAnswer = (run: Run): RunEvents =>
  run.held?._tag === "AnswerReceived" ? (overruledAnswer(run, run.held) ?? []) : []

/** An answer to a question that is not open. */
export const refuseClosedQuestion = (run: Run, { escalationId }: InputOf<"AnswerReceived">) => {
  const closed = run.lastClosed?.escalationId === escalationId ? `: ${run.lastClosed.how}` : ""
  const reason = `Escalation ${escalationId} is not open${closed}. The answer changes nothing.`
  return refusing("orchestrator")("question-closed", reason)
}

/** Somebody else withdrew the question, but the run still needs its answer. */
export const withdrawnByGate = (question: Question, event: InputOf<"EscalationWithdrawn">): Outcome => {
  const { escalationId, reason } = event
  const withdrawn: RunEvent = { _tag: "QuestionWithdrawn", escalationId, reason, byGate: true }
  return outcome(
    [withdrawn],
    next((run) => askAgain(run, question))
  )
}

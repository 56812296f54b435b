/** What a human's answer leads to (docs/design/run-machine.md#the-run-machine-orchestrator). */
import { refusing } from "@reprise/actor"
import { evolveRun } from "../actor/evolve.ts"
import type { InputOf } from "../actor/inputs.ts"
import type { RunEvent, RunEvents } from "../actor/journal.ts"
import { enter, type Move, type Outcome, outcome } from "../actor/moves.ts"
import type { PhaseRun, Run } from "../actor/state.ts"
import { resolveCheckpoint } from "../checkpoint/checkpoint.ts"
import { redoMissing, verifyAgain } from "../checkpoint/continuation.ts"
import { finishApproved, overridePhase } from "../phase/finish.ts"
import { locationOf } from "../phase/plan.ts"
import { askAgain } from "./escalate.ts"
import type { Question } from "./question.ts"
import { grant } from "./retry.ts"

type Answer = InputOf<"AnswerReceived">

const resumed = (run: Run): RunEvent => ({
  _tag: "StepResumed",
  ...locationOf(run),
  ...(run.step === undefined ? {} : { step: run.step }),
  cause: "answer"
})

const kept = (guidance: string | undefined): RunEvents =>
  guidance === undefined || guidance.trim() === "" ? [] : [{ _tag: "GuidanceKept", text: guidance }]

/** A human ends the run and may say why. */
const abort = ({ by, guidance, via }: Answer): Move => ({
  _tag: "Abort",
  reason: `aborted by ${by} through ${via}${guidance === undefined ? "" : `: ${guidance}`}`
})

/** What an answer leads to, by the kind of its question. The question is closed already. */
type Handler = (run: Run, phase: PhaseRun, question: Question, answer: Answer) => Outcome

const stepAnswered: Handler = (run, phase, { ask, brief, retry }, answer) => {
  const { choice, guidance } = answer
  switch (choice) {
    case "continue-session":
      return ask.sessionId === undefined
        ? outcome([])
        : outcome(
            [...kept(guidance), ...grant(retry), resumed(run)],
            enter(retry.step, "continue", { _tag: "continue", sessionId: ask.sessionId, brief })
          )
    case "fix": {
      const step = kept(guidance).length === 0 ? retry.step : (retry.withGuidance ?? retry.step)
      return outcome([...kept(guidance), resumed(run)], { _tag: "Retry", retry: { ...retry, step }, cause: "fix" })
    }
    default:
      // Override. Nothing is left to approve in a phase that is complete already: the run just goes on.
      return run.step === "PHASE_COMPLETE"
        ? outcome([...kept(guidance), resumed(run)], { _tag: "NextPhase" })
        : outcome([resumed(run), ...overridePhase(run, phase, answer.by, guidance)])
  }
}

const checkpointAnswered: Handler = (run, phase, _question, { choice, guidance }) => {
  if (phase.checkpoint === undefined) return outcome([])
  const rest = resolveCheckpoint(run, phase, phase.checkpoint, choice, guidance)
  return { ...rest, events: [resumed(run), ...rest.events] }
}

const continuationAnswered: Handler = (run, phase, _question, { choice, guidance }) =>
  outcome([...kept(guidance), resumed(run), ...(choice === "redo" ? redoMissing(run, phase) : verifyAgain(run, phase))])

const phaseGateAnswered: Handler = (run, phase, _question, { choice, guidance }) =>
  choice === "pause"
    ? outcome([...kept(guidance), { _tag: "RunPaused", ...locationOf(run), step: "PHASE_GATE" }])
    : outcome([...kept(guidance), resumed(run), finishApproved(run, phase)])

/** An option's own name goes back to the runtime; free text in place of `other`. */
const promptAnswered: Handler = (run, _phase, { prompt }, { choice, guidance }) => {
  if (prompt === undefined) return outcome([])
  const asText = choice === "other" && guidance !== undefined
  return outcome(
    [
      ...(asText ? [] : kept(guidance)),
      resumed(run),
      {
        _tag: "PromptReplied",
        sessionId: prompt.sessionId,
        promptId: prompt.promptId,
        reply: asText ? guidance : choice
      }
    ],
    { _tag: "NextPrompt" }
  )
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

/** The gate has closed the question. An answer that is no choice keeps its guidance, and the question is asked again. */
const notAChoice = (run: Run, question: Question, answered: RunEvent, { choice, guidance }: Answer): Outcome => {
  const noted: RunEvent = {
    _tag: "Noted",
    text: `The answer '${choice}' is not, or no longer, one of the choices: the question is asked again.`
  }
  const closed: RunEvents = [answered, ...kept(guidance), noted]
  return outcome([...closed, ...askAgain(closed.reduce(evolveRun, run), question)])
}

export const answerReceived = (run: Run, question: Question, answer: Answer): Outcome => {
  const { by, choice, escalationId, guidance, via } = answer
  const answered: RunEvent = {
    _tag: "QuestionAnswered",
    escalationId,
    choice,
    by,
    via,
    ...(guidance === undefined ? {} : { guidance })
  }
  const option = question.ask.options.find(({ keys, name }) => name === choice || keys.includes(choice))
  const after = evolveRun(run, answered)
  const { phase } = after
  if (option === undefined || phase === undefined) return notAChoice(run, question, answered, answer)
  const rest = endsRun(question, option.name)
    ? outcome([], abort(answer))
    : handlers[question.kind](after, phase, question, { ...answer, choice: option.name })
  return { ...rest, events: [answered, ...rest.events] }
}

/** An answer to a question that is not open. */
export const refuseClosedQuestion = (run: Run, { escalationId }: InputOf<"AnswerReceived">) => {
  const closed = run.lastClosed?.escalationId === escalationId ? `: ${run.lastClosed.how}` : ""
  const reason = `Escalation ${escalationId} is not open${closed}. The answer changes nothing.`
  return refusing("orchestrator")("question-closed", reason)
}

/** Somebody else withdrew the question, but the run still needs its answer. */
export const withdrawnByGate = (run: Run, question: Question, event: InputOf<"EscalationWithdrawn">): Outcome => {
  const { escalationId, reason } = event
  const withdrawn: RunEvent = { _tag: "QuestionWithdrawn", escalationId, reason, byGate: true }
  return outcome([withdrawn, ...askAgain(evolveRun(run, withdrawn), question)])
}

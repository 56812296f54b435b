/** A checkpoint of the plan: recorded, asked, answered (docs/design/continuation.md#checkpoint-types). */
import { isPass, nextTask, type ResumePoint, resumeAt } from "@reprise/plan"
import { type CheckpointReport, defined } from "@reprise/protocol"
import { Result } from "effect"
import { agentForStep } from "../agents/agentOf.ts"
import { sessionFor } from "../agents/session.ts"
import { aboutCheckpoint } from "../prompt/continuation.ts"
import type { InputOf } from "../run/inputs.ts"
import type { Continuation, RunEvent, RunEvents } from "../run/journal.ts"
import { isBlank } from "../run/ledger.ts"
import { after, escalate, fresh, nextInPhase, type Outcome, outcome } from "../run/moves.ts"
import { noted } from "../run/noted.ts"
import { outlineOf, plannedPhase } from "../run/plan.ts"
import type { OpenCheckpoint } from "../run/question.ts"
import { locationOf } from "../run/standalone.ts"
import type { PhaseRun, Run } from "../run/state.ts"
import { beginContinuation, verifyTasks, writeState } from "./continuation.ts"
import { checkpointQuestion, commitOf, hasVerifyCommands, runVerifyCommands, verifyText } from "./verify.ts"

/** The record is written before anybody is asked, so that it survives whatever happens until the answer. */
export const openCheckpoint = (run: Run, phase: PhaseRun, checkpoint: OpenCheckpoint): Outcome => {
  const { from, report } = checkpoint
  const reached: RunEvent = { _tag: "CheckpointReached", ...locationOf(run), task: report.task, type: report.type }
  const record: Continuation = { step: from, cause: "checkpoint-resolved", checkpoint, resumeAt: report.task }
  return outcome([reached, writeState(run, phase, record)])
}

/** The record is in its file: an open checkpoint is asked about now, any other hand-over is verified. */
export const stateWritten = (run: Run, phase: PhaseRun, event: InputOf<"ContinuationStateWritten">): Outcome => {
  const { digest, path, replaced } = event
  const written: RunEvent = { _tag: "StateWritten", path, ...defined({ digest }) }
  const noted: RunEvents =
    replaced === undefined
      ? []
      : [
          {
            _tag: "Noted",
            text: `${path} was refused (${replaced.code}: ${replaced.detail}) and written again from the journal.`
          }
        ]
  const { checkpoint } = phase
  if (checkpoint === undefined) return outcome([written, ...noted, verifyTasks(run, phase)])
  return outcome(
    [written, ...noted],
    nextInPhase((run, phase) => settleOrAsk(run, phase, checkpoint))
  )
}

/** Auto mode takes the recommended option of a decision, and runs the verify commands if there are any. */
const settleOrAsk = (run: Run, phase: PhaseRun, checkpoint: OpenCheckpoint): Outcome => {
  const { report } = checkpoint
  const { auto } = run.request.options
  const choice = auto ? recommendedOption(report) : undefined
  if (choice !== undefined) {
    const noted: RunEvent = {
      _tag: "Noted",
      text: `Auto mode took the recommended option '${choice}' at ${report.task}.`
    }
    return after([noted], resolveCheckpoint(run, phase, checkpoint, { choice }))
  }
  return auto && hasVerifyCommands(run, report)
    ? outcome([runVerifyCommands(run, phase, report)])
    : outcome([], escalate(checkpointQuestion(phase, checkpoint)))
}

const recommendedOption = ({ options, type }: CheckpointReport): string | undefined =>
  type === "decision" ? options?.find((option) => option.recommended === true)?.id : undefined

/** How a checkpoint was answered. `by`: the human who did; absent: the commands that verify it. */
interface CheckpointAnswer {
  readonly choice: string
  readonly text?: string | undefined
  readonly by?: string | undefined
}

const resolutionWord = ({ type }: CheckpointReport, choice: string): string => {
  const verified = choice === "pass" ? "passed" : choice === "fail" ? "failed" : choice
  return type === "human-verify" ? verified : choice
}

/** The choice, the option's label and what the human wrote: for the record and the author. */
const resolutionOf = (report: CheckpointReport, { choice, text }: CheckpointAnswer): string => {
  const word = resolutionWord(report, choice)
  const label = report.type === "decision" ? report.options?.find((option) => option.id === choice)?.label : undefined
  const words = [label, text].filter((one) => !isBlank(one))
  return words.length === 0 ? word : `${word}: ${words.join(". ")}`
}

/** The answer is a decision of the run. What was said with it is for everybody who works on the phase. */
const keepAnswer = (run: Run, phase: PhaseRun, report: CheckpointReport, answer: CheckpointAnswer): RunEvent => {
  const { by, choice, text } = answer
  const word = resolutionWord(report, choice)
  const { description: question, task, type } = report
  return {
    _tag: "WordsKept",
    words: {
      ...(by === undefined ? { from: "checks" } : { from: "human", by }),
      for: "both",
      phase: phase.id,
      about: `${aboutCheckpoint(task)} (${word})`,
      decision: { task, type, question, answer: resolutionOf(report, { choice }), at: run.updatedAt },
      text: isBlank(text) ? "" : text
    }
  }
}

/** Where to resume after a checkpoint at a task that the plan does not list. */
const resumeUnlisted = (run: Run, phase: PhaseRun, report: CheckpointReport, resolution: string): ResumePoint => {
  if (report.type !== "human-verify" || !isPass(resolution)) return { again: true, task: report.task }
  const planned = plannedPhase(run, phase.id)
  const completed = phase.completedTasks.map(({ id }) => id)
  const next = planned === undefined ? undefined : nextTask(planned, completed)
  return { again: false, ...(next === undefined ? {} : { task: next.id }) }
}

export const resolveCheckpoint = (
  run: Run,
  phase: PhaseRun,
  checkpoint: OpenCheckpoint,
  answer: CheckpointAnswer
): Outcome => {
  const { from, report } = checkpoint
  const resolution = resolutionOf(report, answer)
  const completed = phase.completedTasks.map(({ id }) => id)
  const point = resumeAt(outlineOf(run.phases), phase.id, report, resolution, completed)
  const { again, task } = Result.getOrElse(point, () => resumeUnlisted(run, phase, report, resolution))
  const failed = again ? commitOf(phase, report.task) : undefined
  const continuation: Continuation = {
    step: from,
    cause: "checkpoint-resolved",
    checkpoint,
    resolution,
    // A step that fixes something goes on with that, not with the plan's next task.
    ...(task === undefined || (from !== "EXECUTE" && !again) ? {} : { resumeAt: task }),
    ...defined({ failed }),
    session: sessionFor(run, phase, "checkpoint", agentForStep(run, phase, from, fresh))
  }
  const resolved: RunEvent = { _tag: "CheckpointResolved", ...locationOf(run), resolution }
  return after([resolved, keepAnswer(run, phase, report, answer)], beginContinuation(run, phase, continuation))
}

/** The verify commands have run. A failure counts as an automatic retry; when none is left, a human is asked. */
export const checkpointVerified = (
  run: Run,
  phase: PhaseRun,
  event: InputOf<"QualityPassed"> | InputOf<"QualityFailed">
): Outcome => {
  const { _tag, results } = event
  const passed = _tag === "QualityPassed"
  const { checkpoint } = phase
  if (checkpoint === undefined) return outcome([{ _tag: "GatesEnded", passed, results }, ...noted(event)])
  const { task } = checkpoint.report
  const ended: RunEvent = { _tag: "GatesEnded", passed, results, checkpoint: task }
  const found = verifyText(results)
  const retryLeft = phase.autoRetries.length < run.request.options.limits.maxAutoRetries
  const events: RunEvents =
    passed || !retryLeft
      ? [ended, ...noted(event)]
      : [ended, ...noted(event), { _tag: "AutoRetried", reason: `At ${task}: ${found}` }]
  return outcome(
    events,
    passed || retryLeft
      ? nextInPhase((run, phase) =>
          resolveCheckpoint(run, phase, checkpoint, { choice: passed ? "pass" : "fail", text: found })
        )
      : escalate(checkpointQuestion(phase, checkpoint, results))
  )
}

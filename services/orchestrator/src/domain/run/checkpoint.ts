/** A checkpoint of the plan was reached: asked, answered, handed to a fresh author (continuation: Checkpoint types). */
import { resumeAt } from "@reprise/plan"
import type { CheckpointReport } from "@reprise/protocol"
import { Result } from "effect"
import type { Continuation, RunEvent } from "../Event.ts"
import { evolvePhase } from "../fold/evolvePhase.ts"
import { escalate, type Outcome, outcome } from "../Move.ts"
import { placeOf } from "../phases.ts"
import type { OpenCheckpoint } from "../Question.ts"
import type { PhaseRun, Run } from "../Run.ts"
import { outlineOf } from "../readPlan.ts"
import { beginContinuation } from "./continuation.ts"

/** In auto mode only a decision with a recommended option is taken; for anything else a human is waited for. */
const policyChoice = (run: Run, { options, type }: CheckpointReport): string | undefined =>
  run.request.options.auto && type === "decision"
    ? options?.find((option) => option.recommended === true)?.id
    : undefined

export const openCheckpoint = (run: Run, phase: PhaseRun, checkpoint: OpenCheckpoint): Outcome => {
  const { report } = checkpoint
  const reached: RunEvent = { _tag: "CheckpointReached", ...placeOf(run), task: report.task, type: report.type }
  const choice = policyChoice(run, report)
  if (choice === undefined) {
    return outcome(
      [reached],
      escalate({
        origin: "checkpoint",
        reason: report.description,
        retry: { step: checkpoint.from },
        evidence: { checkpoint: report }
      })
    )
  }
  const noted: RunEvent = {
    _tag: "Noted",
    text: `Auto mode took the recommended option '${choice}' at ${report.task}.`
  }
  const resolved = resolveCheckpoint(run, phase, checkpoint, choice, undefined)
  return { ...resolved, events: [reached, noted, ...resolved.events] }
}

/** The chosen word, the option's label, and what the human said: what the record and the author are told. */
const resolutionOf = (report: CheckpointReport, choice: string, guidance: string | undefined): string => {
  const label = report.options?.find((option) => option.id === choice)?.label
  const words = [label, guidance].filter((text) => text !== undefined && text.trim() !== "")
  return words.length === 0 ? choice : `${choice}: ${words.join(". ")}`
}

export const resolveCheckpoint = (
  run: Run,
  phase: PhaseRun,
  checkpoint: OpenCheckpoint,
  choice: string,
  guidance: string | undefined
): Outcome => {
  const { from, report } = checkpoint
  const resolution = resolutionOf(report, choice, guidance)
  const completed = phase.completedTasks.map(({ id }) => id)
  const point = resumeAt(outlineOf(run.phases), phase.id, report, resolution, completed)
  // A task that the plan does not list is executed with the answer, under the name that its author gave it.
  const task = Result.isSuccess(point) ? point.success.task : report.task
  const continuation: Continuation = {
    step: from,
    cause: "checkpoint-resolved",
    checkpoint,
    resolution,
    ...(task === undefined ? {} : { resumeAt: task })
  }
  const resolved: RunEvent = { _tag: "CheckpointResolved", ...placeOf(run), resolution }
  const begun = beginContinuation(run, evolvePhase(phase, resolved), continuation)
  return { ...begun, events: [resolved, ...begun.events] }
}

/** A checkpoint of the plan was reached: recorded, asked, answered, handed to a fresh author (continuation: Checkpoint types). */

import { isPass, nextTask, type ResumePoint, resumeAt } from "@reprise/plan"
import type { CheckpointReport, GateResult } from "@reprise/protocol"
import { Result } from "effect"
import type { InputOf } from "../actor/inputs.ts"
import type { Continuation, RunEvent, RunEvents } from "../actor/journal.ts"
import { escalate, type Outcome, outcome } from "../actor/moves.ts"
import type { PhaseRun, Run } from "../actor/state.ts"
import { sessionFor } from "../author/session.ts"
import { evolvePhase } from "../phase/evolve.ts"
import { outlineOf, placeOf, plannedPhase } from "../phase/plan.ts"
import type { OpenCheckpoint } from "../question/question.ts"
import { beginContinuation, verifyTasks, writeState } from "./continuation.ts"

/** Before anybody is asked the record is written, so that it survives whatever happens until the answer. */
export const openCheckpoint = (run: Run, phase: PhaseRun, checkpoint: OpenCheckpoint): Outcome => {
  const { from, report } = checkpoint
  const reached: RunEvent = { _tag: "CheckpointReached", ...placeOf(run), task: report.task, type: report.type }
  const record: Continuation = { step: from, cause: "checkpoint-resolved", checkpoint, resumeAt: report.task }
  const planned = plannedType(run, phase, report)
  const noted: RunEvents =
    planned === undefined || planned === report.type
      ? []
      : [{ _tag: "Noted", text: `${report.task} is ${planned} in the plan, and its author made it ${report.type}.` }]
  return outcome([reached, ...noted, writeState(run, phase, record)])
}

const plannedType = (run: Run, phase: PhaseRun, { task }: CheckpointReport): CheckpointReport["type"] | undefined =>
  plannedPhase(run, phase.id)?.tasks.find(({ id }) => id === task)?.checkpoint

/** Nobody is passed over because an author calls a checkpoint of the plan by another name. */
const mayPass = (run: Run, phase: PhaseRun, report: CheckpointReport): boolean =>
  run.request.options.auto && (plannedType(run, phase, report) ?? report.type) === report.type

/** In auto mode a decision with a recommended option is taken, and what a command can verify is verified by it. */
export const checkpointRecorded = (run: Run, phase: PhaseRun, checkpoint: OpenCheckpoint): Outcome => {
  const { report } = checkpoint
  const auto = mayPass(run, phase, report)
  const choice = auto ? recommended(report) : undefined
  if (choice !== undefined) {
    const noted: RunEvent = {
      _tag: "Noted",
      text: `Auto mode took the recommended option '${choice}' at ${report.task}.`
    }
    const resolved = resolveCheckpoint(run, phase, checkpoint, choice, undefined)
    return { ...resolved, events: [noted, ...resolved.events] }
  }
  return auto && hasVerifyCommands(run, report)
    ? outcome([verifyCommands(run, phase, report)])
    : askCheckpoint(phase, checkpoint)
}

const recommended = ({ options, type }: CheckpointReport): string | undefined =>
  type === "decision" ? options?.find((option) => option.recommended === true)?.id : undefined

/** `gateResults`: what the verify commands said before. A human who is to verify is shown the task's own commit. */
export const askCheckpoint = (
  phase: PhaseRun,
  { from, report }: OpenCheckpoint,
  gateResults: ReadonlyArray<GateResult> | undefined = undefined
): Outcome => {
  const commit = report.type === "human-verify" ? commitOf(phase, report.task) : undefined
  return outcome(
    [],
    escalate({
      origin: "checkpoint",
      reason: report.description.trim() === "" ? `Task ${report.task} is a checkpoint.` : report.description,
      retry: { step: from },
      evidence: {
        checkpoint: report,
        ...(commit === undefined ? {} : { commit }),
        ...(gateResults === undefined ? {} : { gateResults })
      }
    })
  )
}

const commitOf = (phase: PhaseRun, task: string): string | undefined =>
  phase.completedTasks.find(({ id }) => id === task)?.commit

const verified: Readonly<Record<string, string>> = { pass: "passed", fail: "failed" }

/** The chosen word, the option's label, and what the human said: what the record and the author are told. */
const resolutionOf = (report: CheckpointReport, choice: string, guidance: string | undefined): string => {
  const word = report.type === "human-verify" ? (verified[choice] ?? choice) : choice
  const label = report.type === "decision" ? report.options?.find((option) => option.id === choice)?.label : undefined
  const words = [label, guidance].filter((text) => text !== undefined && text.trim() !== "")
  return words.length === 0 ? word : `${word}: ${words.join(". ")}`
}

/** A task that the plan does not list goes by the name that its author gave it. */
const unlisted = (run: Run, phase: PhaseRun, report: CheckpointReport, resolution: string): ResumePoint => {
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
  choice: string,
  guidance: string | undefined
): Outcome => {
  const { from, report } = checkpoint
  const resolution = resolutionOf(report, choice, guidance)
  const completed = phase.completedTasks.map(({ id }) => id)
  const point = resumeAt(outlineOf(run.phases), phase.id, report, resolution, completed)
  const { again, task } = Result.getOrElse(point, () => unlisted(run, phase, report, resolution))
  const failed = again ? commitOf(phase, report.task) : undefined
  const continuation: Continuation = {
    step: from,
    cause: "checkpoint-resolved",
    checkpoint,
    resolution,
    ...(guidance === undefined || guidance.trim() === "" ? {} : { words: guidance }),
    // A step that mends goes on with what it mends, not with the next task of the plan.
    ...(task === undefined || (from !== "EXECUTE" && !again) ? {} : { resumeAt: task }),
    ...(failed === undefined ? {} : { failed }),
    session: sessionFor(run, phase, "checkpoint")
  }
  const resolved: RunEvent = { _tag: "CheckpointResolved", ...placeOf(run), resolution }
  const begun = beginContinuation(run, evolvePhase(phase, resolved), continuation)
  return { ...begun, events: [resolved, ...begun.events] }
}

/** The record is in its file: a checkpoint that is open is asked now, any other hand-over is verified (continuation). */

export const stateWritten = (run: Run, phase: PhaseRun, event: InputOf<"ContinuationStateWritten">): Outcome => {
  const { digest, path, replaced } = event
  const written: RunEvent = { _tag: "StateWritten", path, ...(digest === undefined ? {} : { digest }) }
  const noted: ReadonlyArray<RunEvent> =
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
  const next = checkpointRecorded(run, evolvePhase(phase, written), checkpoint)
  return { ...next, events: [written, ...noted, ...next.events] }
}

/** Auto mode's commands have looked at an open human-verify. A failure is counted, and once too often a human is asked. */
export const checkpointVerified = (
  run: Run,
  phase: PhaseRun,
  event: InputOf<"QualityPassed"> | InputOf<"QualityFailed">
): Outcome => {
  const passed = event._tag === "QualityPassed"
  const { checkpoint } = phase
  const { results } = event
  const place = checkpoint === undefined ? {} : { checkpoint: checkpoint.report.task }
  const ended: RunEvent = { _tag: "GatesEnded", passed, results, ...place }
  if (checkpoint === undefined) return outcome([ended])
  const words = verifyWords(event.results)
  const triesLeft = phase.autoRetries.length < run.request.options.limits.maxAutoRetries
  const failed: RunEvent = { _tag: "AutoRetried", reason: `At ${checkpoint.report.task}: ${words}` }
  const events: ReadonlyArray<RunEvent> = passed || !triesLeft ? [ended] : [ended, failed]
  const after = events.reduce(evolvePhase, phase)
  const next =
    passed || triesLeft
      ? resolveCheckpoint(run, after, checkpoint, passed ? "pass" : "fail", words)
      : askCheckpoint(after, checkpoint, event.results)
  return { ...next, events: [...events, ...next.events] }
}

/** human-verify in auto mode: the commands of `gates.verify` look in the human's place (continuation: Checkpoint types). */

export const hasVerifyCommands = (run: Run, { type }: CheckpointReport): boolean =>
  type === "human-verify" && run.request.options.gates.verify.length > 0

export const verifyCommands = (run: Run, phase: PhaseRun, { task }: CheckpointReport): RunEvent => {
  const { qualityTimeoutMs, verify } = run.request.options.gates
  return {
    _tag: "WorkspaceAsked",
    command: {
      _tag: "RunQualityGates",
      runId: run.runId,
      phase: phase.id,
      attempt: phase.checkpoints.length,
      commands: verify,
      timeoutMs: qualityTimeoutMs,
      checkpoint: task
    }
  }
}

const lastWords = ({ head, tail }: GateResult): string => {
  const text = (tail === "" ? head : tail).trim()
  return text === "" ? "" : `: ${text.split("\n").slice(-3).join(" / ").slice(-300)}`
}

const resultWords = (result: GateResult): string => {
  const end = result.timedOut ? "timed out" : `exit ${result.exitCode ?? "unknown"}`
  return result.exitCode === 0
    ? `\`${result.command}\` passed`
    : `\`${result.command}\` failed (${end}, log ${result.logRef})${lastWords(result)}`
}

/** What the commands said, for the record and the next author. */
export const verifyWords = (results: ReadonlyArray<GateResult>): string => results.map(resultWords).join("; ")

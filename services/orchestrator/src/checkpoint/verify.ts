/** What verifies a checkpoint: in auto mode the commands of `gates.verify`, else a human (docs/design/continuation.md#checkpoint-types). */
import { type CheckpointReport, defined, type GateResult } from "@reprise/protocol"
import type { RunEvent } from "../run/journal.ts"
import type { EscalationRequest } from "../run/moves.ts"
import type { OpenCheckpoint } from "../run/question.ts"
import type { PhaseRun, Run } from "../run/state.ts"

export const hasVerifyCommands = (run: Run, { type }: CheckpointReport): boolean =>
  type === "human-verify" && run.request.options.gates.verify.length > 0

export const runVerifyCommands = (run: Run, phase: PhaseRun, { task }: CheckpointReport): RunEvent => {
  const { environment, qualityTimeoutMs, verify } = run.request.options.gates
  return {
    _tag: "WorkspaceAsked",
    command: {
      _tag: "RunQualityGates",
      runId: run.runId,
      phase: phase.id,
      attempt: phase.checkpoints.length,
      commands: verify,
      timeoutMs: qualityTimeoutMs,
      ...(environment.length === 0 ? {} : { environment }),
      checkpoint: task
    }
  }
}

const lastOutput = ({ head, tail }: GateResult): string => {
  const text = (tail === "" ? head : tail).trim()
  return text === "" ? "" : `: ${text.split("\n").slice(-3).join(" / ").slice(-300)}`
}

const resultText = (result: GateResult): string => {
  const end = result.timedOut ? "timed out" : `exit ${result.exitCode ?? "unknown"}`
  return result.exitCode === 0
    ? `\`${result.command}\` passed`
    : `\`${result.command}\` failed (${end}, log ${result.logRef})${lastOutput(result)}`
}

/** What the commands found, for the record and the next author. */
export const verifyText = (results: ReadonlyArray<GateResult>): string => results.map(resultText).join("; ")

export const commitOf = (phase: PhaseRun, task: string): string | undefined =>
  phase.completedTasks.find(({ id }) => id === task)?.commit

/** `gateResults`: what the verify commands found before. A human who verifies a task is shown the task's own commit. */
export const checkpointQuestion = (
  phase: PhaseRun,
  { from, report }: OpenCheckpoint,
  gateResults: ReadonlyArray<GateResult> | undefined = undefined
): EscalationRequest => {
  const commit = report.type === "human-verify" ? commitOf(phase, report.task) : undefined
  return {
    origin: "checkpoint",
    reason: report.description.trim() === "" ? `Task ${report.task} is a checkpoint.` : report.description,
    retry: { step: from },
    evidence: {
      checkpoint: report,
      ...defined({ commit, gateResults })
    }
  }
}

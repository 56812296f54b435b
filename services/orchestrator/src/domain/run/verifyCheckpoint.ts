/** human-verify in auto mode: the commands of `gates.verify` look in the human's place (continuation: Checkpoint types). */
import type { CheckpointReport, GateResult } from "@reprise/protocol"
import type { RunEvent } from "../Event.ts"
import type { PhaseRun, Run } from "../Run.ts"

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

/** Quality gates: run, passed, failed (run-machine: QUALITY_CHECK). */
import type { InputOf } from "../actor/inputs.ts"
import type { RunEvents } from "../actor/journal.ts"
import { enter, escalate, type Outcome, outcome } from "../actor/moves.ts"
import type { PhaseRun, Run } from "../actor/state.ts"
import { stepTask } from "../author/prompt.ts"
import { evolvePhase } from "../phase/evolve.ts"

export const hasGates = (run: Run): boolean => {
  const { gates, skipQuality } = run.request.options
  return !skipQuality && gates.quality.length > 0
}

/** The attempt numbers the runs of a phase, so that each has a log of its own. */
export const startGates = (run: Run, phase: PhaseRun): RunEvents => {
  const { quality, qualityTimeoutMs } = run.request.options.gates
  return [
    {
      _tag: "WorkspaceAsked",
      command: {
        _tag: "RunQualityGates",
        runId: run.runId,
        phase: phase.id,
        attempt: phase.gateRuns + 1,
        commands: quality,
        timeoutMs: qualityTimeoutMs
      }
    }
  ]
}

export const qualityPassed = (event: InputOf<"QualityPassed">): Outcome =>
  outcome([{ _tag: "GatesEnded", passed: true, results: event.results }], enter("REVIEW", "gates-passed"))

export const qualityFailed = (run: Run, phase: PhaseRun, event: InputOf<"QualityFailed">): Outcome => {
  const ended = { _tag: "GatesEnded" as const, passed: false, results: event.results }
  const { maxQualityRetries } = run.request.options.limits
  if (phase.qualityRetries < maxQualityRetries) return outcome([ended], enter("QUALITY_RETRY", "gates-failed"))
  const failed = event.results.filter((result) => result.exitCode !== 0 || result.timedOut)
  const names = failed.map((result) => `'${result.command}'`).join(", ")
  return outcome(
    [ended],
    escalate({
      origin: "quality",
      reason: `Quality gates still fail after ${phase.qualityRetries} of ${maxQualityRetries} retries: ${names}.`,
      retry: { step: "QUALITY_RETRY", limit: "quality-retries" },
      brief: stepTask(run, evolvePhase(phase, ended), "QUALITY_RETRY"),
      evidence: { gateResults: event.results }
    })
  )
}

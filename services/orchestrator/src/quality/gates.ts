/** Quality gates: run, passed, failed (docs/design/run-machine.md#the-run-machine-orchestrator). */
import { checkpointVerified } from "../checkpoint/checkpoint.ts"
import { failedGates, stepTask } from "../prompt/author.ts"
import { type Evolution, type Handle, type Handler, type Handlers, inPhase, onReport } from "../run/family.ts"
import type { InputOf } from "../run/inputs.ts"
import type { RunEvents } from "../run/journal.ts"
import { enter, escalate, type Outcome, outcome } from "../run/moves.ts"
import { noted } from "../run/noted.ts"
import { gateRefusals } from "../run/refusals.ts"
import { nothing, type PhaseRun, type Run, withPhase } from "../run/state.ts"

/** The attempt numbers the gate runs of a phase, so that each has a log of its own. */
export const startGates = (run: Run, phase: PhaseRun): RunEvents => {
  const { environment, quality, qualityTimeoutMs } = run.request.options.gates
  return [
    {
      _tag: "WorkspaceAsked",
      command: {
        _tag: "RunQualityGates",
        runId: run.runId,
        phase: phase.id,
        attempt: phase.gateRuns + 1,
        commands: quality,
        timeoutMs: qualityTimeoutMs,
        ...(environment.length === 0 ? {} : { environment })
      }
    }
  ]
}

export const qualityPassed = (event: InputOf<"QualityPassed">): Outcome =>
  outcome(
    [{ _tag: "GatesEnded", passed: true, results: event.results }, ...noted(event)],
    enter("REVIEW", "gates-passed")
  )

export const qualityFailed = (run: Run, phase: PhaseRun, event: InputOf<"QualityFailed">): Outcome => {
  const { results } = event
  const ended = { _tag: "GatesEnded" as const, passed: false, results }
  const { maxQualityRetries } = run.request.options.limits
  if (phase.qualityRetries < maxQualityRetries)
    return outcome([ended, ...noted(event)], enter("QUALITY_RETRY", "gates-failed"))
  const names = failedGates(results)
    .map(({ command }) => `'${command}'`)
    .join(", ")
  return outcome(
    [ended, ...noted(event)],
    escalate({
      origin: "quality",
      reason: `Quality gates still fail after ${phase.qualityRetries} of ${maxQualityRetries} retries: ${names}.`,
      retry: { step: "QUALITY_RETRY", limit: "quality-retries" },
      brief: stepTask(run, { ...phase, gateResults: results }, "QUALITY_RETRY"),
      evidence: { gateResults: results }
    })
  )
}

/** The gates fail again after a retry. */
const failedRetry = ({ failedRetries = 0, qualityRetries }: PhaseRun, passed: boolean): Partial<PhaseRun> =>
  passed || qualityRetries === 0 ? {} : { failedRetries: failedRetries + 1 }

export const qualityEvolution = {
  GatesEnded: (run, { checkpoint, passed, results }) => ({
    ...withPhase(run, (phase) =>
      checkpoint === undefined ? { ...phase, gateResults: results, ...failedRetry(phase, passed) } : phase
    ),
    pending: nothing
  })
} satisfies Partial<Evolution>

/** `handle`: of the phase's own gates. Those that verify a checkpoint lead on from there. */
const onGates = <Input extends InputOf<"QualityPassed" | "QualityFailed">>(handle: Handle<Input>): Handler<Input> =>
  onReport(
    "RunQualityGates",
    (run, input, { attempt, checkpoint }) =>
      attempt === input.attempt && checkpoint === input.checkpoint
        ? inPhase(checkpoint === undefined ? handle : checkpointVerified)(run, input)
        : undefined,
    (_run, { phase, results }) => gateRefusals(phase, results)
  )

export const qualityHandlers = {
  QualityPassed: onGates((_run, _phase, input) => qualityPassed(input)),
  QualityFailed: onGates(qualityFailed)
} satisfies Partial<Handlers>

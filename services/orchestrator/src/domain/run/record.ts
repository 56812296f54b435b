/** The record is in its file: a checkpoint that is open is asked now, any other hand-over is verified (continuation). */
import type { RunEvent } from "../Event.ts"
import { evolvePhase } from "../fold/evolvePhase.ts"
import type { InputOf } from "../Input.ts"
import { type Outcome, outcome } from "../Move.ts"
import type { PhaseRun, Run } from "../Run.ts"
import { askCheckpoint, checkpointRecorded, resolveCheckpoint } from "./checkpoint.ts"
import { verifyTasks } from "./continuation.ts"
import { verifyWords } from "./verifyCheckpoint.ts"

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

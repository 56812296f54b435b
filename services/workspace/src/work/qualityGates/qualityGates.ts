import type { GateResult } from "@reprise/protocol"
import { Effect } from "effect"
import type { InputOf, WorkspaceFact } from "../../actor/inputs.ts"
import type { Place } from "../../actor/work.ts"
import { commandSlugs, qualityLog, verifyLog } from "./logNames.ts"
import { runShell } from "./runShell.ts"

const passed = (result: GateResult) => result.exitCode === 0 && !result.timedOut

/** Runs every gate in order, even after one has failed (docs/design/workspace.md#workspace). */
export const qualityGates = Effect.fn("qualityGates")(function* (command: InputOf<"RunQualityGates">, place: Place) {
  const { attempt, checkpoint, commands, environment = [], phase, runId, timeoutMs } = command
  const logOf = checkpoint === undefined ? qualityLog : verifyLog
  const slugs = commandSlugs(commands)
  const results = yield* Effect.forEach(commands, (gate, index) =>
    runShell({
      runId,
      command: gate,
      directory: place.directory,
      root: place.root,
      logPath: logOf(runId, phase, attempt, slugs[index] ?? String(index)),
      timeoutMs,
      environment
    })
  )
  const event: WorkspaceFact = {
    _tag: results.every(passed) ? "QualityPassed" : "QualityFailed",
    runId,
    phase,
    attempt,
    results,
    ...(checkpoint === undefined ? {} : { checkpoint })
  }
  return event
})

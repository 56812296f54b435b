import type { GateResult, WorkspaceCommand } from "@reprise/protocol"
import { Effect } from "effect"
import { commandSlugs, qualityLog, verifyLog } from "./domain/logName.ts"
import type { Place, WorkspaceFact } from "./domain/messages.ts"
import { runShell } from "./runShell.ts"

type RunQualityGates = Extract<WorkspaceCommand, { readonly _tag: "RunQualityGates" }>

const passed = (result: GateResult) => result.exitCode === 0 && !result.timedOut

/** Runs every gate in order, also after one has failed (workspace: Quality gates). */
export const qualityGates = Effect.fn("qualityGates")(function* (command: RunQualityGates, place: Place) {
  const { attempt, checkpoint, commands, phase, runId, timeoutMs } = command
  const logOf = checkpoint === undefined ? qualityLog : verifyLog
  const slugs = commandSlugs(commands)
  const results = yield* Effect.forEach(commands, (gate, index) =>
    runShell({
      command: gate,
      directory: place.directory,
      root: place.root,
      logPath: logOf(runId, phase, attempt, slugs[index] ?? String(index)),
      timeoutMs
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

import type { GateResult } from "@reprise/protocol"
import { Effect } from "effect"
import type { InputOf, WorkspaceFact } from "../../actor/inputs.ts"
import type { Place } from "../../actor/work.ts"
import { recordTolerated } from "../files/toleratedFiles.ts"
import { Git } from "../git/Git.ts"
import { ownTreeFolder } from "../git/ownTreeFolder.ts"
import { renewIndexes } from "../git/renewIndexes.ts"
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
  const git = yield* Git
  // A reviewer's git would believe what a gate wrote there.
  yield* Effect.ignore(renewIndexes(place.directory), { log: "Warn" })
  // Without it an author is told to remove what the gates make again each time.
  yield* Effect.ignore(git.acceptLeftovers(place.directory, ownTreeFolder(place)), { log: "Warn" })
  yield* Effect.ignore(recordTolerated(place), { log: "Warn" })
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

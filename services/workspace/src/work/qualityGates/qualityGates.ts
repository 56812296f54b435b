import { existsSync } from "node:fs"
import { join } from "node:path"
import type { GateResult } from "@reprise/protocol"
import { Effect } from "effect"
import type { InputOf, WorkspaceFact } from "../../actor/inputs.ts"
import type { Place } from "../../actor/work.ts"
import { putBackLeftovers } from "./leftovers.ts"
import { commandSlugs, qualityLog, verifyLog } from "./logNames.ts"
import { runShell } from "./runShell.ts"

const passed = (result: GateResult) => result.exitCode === 0 && !result.timedOut

const nothing: ReadonlyArray<string> = []

/** A failure is none of the gates: what stays is told to the author. */
const withoutLeftovers = (place: Place) =>
  putBackLeftovers(place).pipe(
    Effect.catch((fault) =>
      Effect.as(Effect.logWarning(`What quality gates left in ${place.directory} stays there.`, fault), nothing)
    )
  )

/** Runs every gate in order, even after one has failed (docs/design/workspace.md#workspace). */
export const qualityGates = Effect.fn("qualityGates")(function* (command: InputOf<"RunQualityGates">, place: Place) {
  const { attempt, checkpoint, commands, environment = [], phase, runId, timeoutMs } = command
  const logOf = checkpoint === undefined ? qualityLog : verifyLog
  const { directory, root } = place
  const gates = commandSlugs(commands).map((slug, index) => ({
    command: commands[index] ?? "",
    logPath: logOf(runId, phase, attempt, slug)
  }))
  const [first] = gates
  // A log tells that these gates were killed with their host, and are run again.
  const wereKilled = first !== undefined && existsSync(join(root, first.logPath))
  const earlier = wereKilled ? yield* withoutLeftovers(place) : nothing
  const results = yield* Effect.forEach(gates, (gate) =>
    runShell({ ...gate, runId, directory, root, timeoutMs, environment })
  )
  const notes = [...earlier, ...(yield* withoutLeftovers(place))]
  const event: WorkspaceFact = {
    _tag: results.every(passed) ? "QualityPassed" : "QualityFailed",
    runId,
    phase,
    attempt,
    results,
    ...(notes.length === 0 ? {} : { notes }),
    ...(checkpoint === undefined ? {} : { checkpoint })
  }
  return event
})

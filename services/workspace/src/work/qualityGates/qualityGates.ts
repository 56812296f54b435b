import type { Falsehood } from "@reprise/process"
import type { GateResult } from "@reprise/protocol"
import { Effect } from "effect"
import type { InputOf, WorkspaceFact } from "../../actor/inputs.ts"
import type { Place } from "../../actor/work.ts"
import { isOfTree } from "../faults.ts"
import { listSome } from "../files/ownFiles.ts"
import { renewIndexes } from "../git/renewIndexes.ts"
import { falsifiedByGates } from "../verify/verifiedWork.ts"
import { putBackLeftovers } from "./leftovers.ts"
import { commandSlugs, qualityLog, verifyLog } from "./logNames.ts"
import { runShell } from "./runShell.ts"

const passed = (result: GateResult) => result.exitCode === 0 && !result.timedOut

const nothing: ReadonlyArray<string> = []

/** Whoever reads the work now would be shown another one: what gates run can write git's store. */
const falsified = (place: Place, { phase, runId }: InputOf<"RunQualityGates">) =>
  falsifiedByGates(place, { phase, runId }).pipe(
    Effect.catchIf(isOfTree, ({ message }) =>
      Effect.succeed([{ path: "git's store", why: `cannot be read: ${message}` }])
    )
  )

/** As the result of a gate that failed. */
const asFailed = (found: ReadonlyArray<Falsehood>, logRef: string): ReadonlyArray<GateResult> => {
  if (found.length === 0) return []
  const what = listSome(found.map(({ path, why }) => `${path} ${why}`))
  const head = `While quality gates ran, git's store was changed, so that a reviewer would be shown other work: ${what}. Find out what does that, take it out, and put the right objects back: remove the false one and commit the work again, or 'git fetch --refetch'.\n`
  return [{ command: "git fsck", exitCode: 1, durationMs: 0, timedOut: false, logRef, head, tail: "" }]
}

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
  const slugs = commandSlugs(commands)
  // Of gates that were killed with their host.
  const earlier = yield* withoutLeftovers(place)
  const ran = yield* Effect.forEach(commands, (gate, index) =>
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
  // A reviewer's git would believe what a gate wrote there.
  yield* Effect.ignore(renewIndexes(place.directory), { log: "Warn" })
  const notes = [...earlier, ...(yield* withoutLeftovers(place))]
  const results = [...ran, ...asFailed(yield* falsified(place, command), ran.at(-1)?.logRef ?? "")]
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

/** The summary of a run from its journal. */
import type { Summary } from "@reprise/plan"
import { Result, Schema } from "effect"
import { summaryOf } from "../phase/summary.ts"
import { RunEvent } from "../run/journal.ts"
import { noRun, type RunState } from "../run/state.ts"
import { evolve } from "./evolve.ts"

const decodeEvents = Schema.decodeUnknownResult(Schema.Array(RunEvent))

/**
 * The summary of a run, finished or under way, from its journal alone. `entries`: the events of each journal entry,
 * oldest first. Undefined when no run was started.
 */
export const journalSummary = (
  entries: ReadonlyArray<unknown>
): Result.Result<Summary | undefined, Schema.SchemaError> => {
  let state: RunState = noRun
  for (const entry of entries) {
    const events = decodeEvents(entry)
    if (Result.isFailure(events)) return Result.fail(events.failure)
    state = events.success.reduce(evolve, state)
  }
  return Result.succeed(state._tag === "NoRun" ? undefined : summaryOf(state))
}

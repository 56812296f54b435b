/** The summary of a run as its journal has it, under way or ended: for whoever may read the journal. Pure. */
import type { Summary } from "@reprise/plan"
import { Result, Schema } from "effect"
import { RunEvent } from "./Event.ts"
import { evolve } from "./fold/evolve.ts"
import { noRun, type RunState } from "./Run.ts"
import { summaryOf } from "./run/summary.ts"

const decodeEvents = Schema.decodeUnknownResult(Schema.Array(RunEvent))

/** `entries`: the events of each journal entry, oldest first. Undefined when no run was started. */
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

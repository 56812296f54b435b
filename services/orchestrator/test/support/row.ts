/** One row of the run machine: a run that has come so far, an input, and what must follow. */
import type { Actor } from "@reprise/actor"
import { given } from "@reprise/actor/testing"
import { runActor } from "../../src/machine/actor.ts"
import { decideRun } from "../../src/machine/decide.ts"
import type { RunInput } from "../../src/run/inputs.ts"
import type { RunEvent } from "../../src/run/journal.ts"
import type { RunState } from "../../src/run/state.ts"
import { lineOf } from "./lines.ts"
import { runId } from "./samples.ts"
import type { Story } from "./story.ts"

/** The Run actor without the record of what led to each entry, so that a row names only what it is about. */
const machine: Actor<RunState, RunInput, RunEvent> = { ...runActor, decide: decideRun }

export const row = (so: Story | ReadonlyArray<RunEvent>, input: RunInput) => {
  const history = "journal" in so ? so.journal : so
  const result = given(machine)(history).when(input, { key: runId })
  return { ...result, lines: result.sent.map(lineOf) }
}

/** One row of the run machine: a run that has come so far, an input, and what must follow. */
import type { Actor } from "@reprise/actor"
import { given } from "@reprise/actor/testing"
import { decideRun } from "../../src/domain/decide.ts"
import type { RunEvent } from "../../src/domain/Event.ts"
import type { RunInput } from "../../src/domain/Input.ts"
import type { RunState } from "../../src/domain/Run.ts"
import { runActor } from "../../src/domain/runActor.ts"
import { lineOf, runId, type Story } from "./story.ts"

/** The Run actor without the record of what led to each entry, so that a row names only what it is about. */
const machine: Actor<RunState, RunInput, RunEvent> = { ...runActor, decide: decideRun }

export const row = (so: Story | ReadonlyArray<RunEvent>, input: RunInput) => {
  const history = "journal" in so ? so.journal : so
  const result = given(machine)(history).when(input, { key: runId })
  return { ...result, lines: result.sent.map(lineOf) }
}

import { assert, describe, it } from "@effect/vitest"
import { chooseRun } from "../src/system/lookUp/meantRun.ts"
import { CliFailure } from "../src/terminal/CliFailure.ts"
import { aRun } from "./support/views.ts"

const run = (runId: string, status: string, minute: number) =>
  aRun({ runId, status, startedAt: `2026-01-01T10:0${minute}:00.000Z` })

const ended = run("r1", "completed", 1)
const open = run("r2", "waiting", 2)
const endedLast = run("r3", "aborted", 3)
const paused = run("r4", "paused", 4)

/** The id, or the code of the failure. */
const chosen = (...given: Parameters<typeof chooseRun>) => {
  const choice = chooseRun(...given)
  return choice instanceof CliFailure ? choice.code : choice
}

describe("the run that is meant", () => {
  it.each([
    ["an id as it was typed", [ended], "r9", false, "r9"],
    ["the run that was started last by 'latest'", [endedLast, ended, open], "latest", false, "r3"],
    ["the same for a change", [endedLast, ended, open], "latest", true, "r3"],
    ["the only open run without a name", [ended, open, endedLast], undefined, false, "r2"],
    ["the only open run for a change", [ended, open, endedLast], undefined, true, "r2"],
    ["the latest run to look at if none is open", [ended, endedLast], undefined, false, "r3"],
    ["no ended run for a change", [ended, endedLast], undefined, true, "no-open-run"],
    ["none of several open runs", [open, paused], undefined, false, "several-runs"],
    ["the latest of several open runs by name", [open, paused], "latest", true, "r4"],
    ["nothing where nothing ran", [], undefined, false, "unknown-run"],
    ["nothing by 'latest' where nothing ran", [], "latest", true, "unknown-run"]
  ] as const)("is %s", (_, runs, name, changes, expected) => {
    assert.strictEqual(chosen(runs, name, changes), expected)
  })

  it("is asked for with the ids of the open runs", () => {
    const failure = chooseRun([open, paused], undefined, true)
    assert.instanceOf(failure, CliFailure)
    assert.strictEqual(failure.message, "2 runs are open: r4, r2.")
    assert.strictEqual(failure.hint, "Name one of them, or 'latest'.")
  })
})

/** What a line of a list tells of a run. */
import { assert, describe, it } from "@effect/vitest"
import { RunLine, type RunView } from "@reprise/protocol"
import { Schema } from "effect"
import { runActor } from "../src/machine/actor.ts"
import { runView } from "../src/machine/view.ts"
import { runId, startRun } from "./support/samples.ts"
import { story } from "./support/story.ts"

const decode = Schema.decodeUnknownSync(RunLine)
const view = (): RunView => runView(story().tell(startRun()).state) ?? assert.fail("there is no view")
const lineOf = (shown: RunView) => runActor.line?.(shown)

describe("a run as a line of a list", () => {
  it("has what is shown there, and nothing that is looked at one at a time", () => {
    const shown = view()
    const { planPath, status, step, updatedAt, waitsFor } = shown
    assert.deepStrictEqual<unknown>(lineOf(shown), { runId, status, planPath, step, updatedAt, waitsFor })
  })

  it("says where it waits, with the beginning of a long reason", () => {
    const waiting = { ...view(), phase: "1", escalationId: `${runId}-e1`, reason: "x".repeat(500) } as RunView
    const line = decode(lineOf(waiting))
    assert.deepStrictEqual<unknown>([line.phase, line.escalationId], ["1", `${runId}-e1`])
    assert.strictEqual(line.reason, `${"x".repeat(400)}…`)
    assert.strictEqual(decode(lineOf({ ...waiting, reason: "short" })).reason, "short")
  })
})

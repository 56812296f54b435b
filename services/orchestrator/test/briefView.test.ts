/** What a list tells of a run in brief. */
import { assert, describe, it } from "@effect/vitest"
import { BriefRunView, type RunView } from "@reprise/protocol"
import { Schema } from "effect"
import { runActor } from "../src/actor/actor.ts"
import { runView } from "../src/actor/view.ts"
import { runId, startRun } from "./support/samples.ts"
import { story } from "./support/story.ts"

const decode = Schema.decodeUnknownSync(BriefRunView)
const view = (): RunView => runView(story().tell(startRun()).state) ?? assert.fail("there is no view")
const briefOf = (shown: RunView) => runActor.brief?.(shown)

describe("a run in brief", () => {
  it("has what a line of a list shows, and nothing that is looked at one at a time", () => {
    const shown = view()
    const { planPath, status, step, updatedAt } = shown
    assert.deepStrictEqual<unknown>(briefOf(shown), { runId, status, planPath, step, updatedAt })
  })

  it("says where it waits, with the beginning of a long reason", () => {
    const waiting = { ...view(), phase: "1", escalationId: `${runId}-e1`, reason: "x".repeat(500) } as RunView
    const brief = decode(briefOf(waiting))
    assert.deepStrictEqual<unknown>([brief.phase, brief.escalationId], ["1", `${runId}-e1`])
    assert.strictEqual(brief.reason, `${"x".repeat(400)}…`)
    assert.strictEqual(decode(briefOf({ ...waiting, reason: "short" })).reason, "short")
  })
})

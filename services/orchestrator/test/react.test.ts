/** What a run sends, in every field, where a test of its steps looks only at the names. */
import { assert, describe, it } from "@effect/vitest"
import { send } from "@reprise/actor"
import { PhaseId, reviewKey, to } from "@reprise/protocol"
import { react } from "../src/machine/react.ts"
import { noRun } from "../src/run/state.ts"
import { runId } from "./support/samples.ts"
import { type Story, story } from "./support/story.ts"

const phase = PhaseId.make("1")
const reviewer = to.reviewer(reviewKey(runId, phase))
const reviewing = () => story().executing().worked("abc1")

describe("a run", () => {
  it.each<readonly [string, () => Story, Parameters<typeof send>[0]]>([
    [
      "to the reviewer that a pause interrupts",
      () => reviewing().tell({ _tag: "PauseRun", runId, now: true }),
      reviewer.InterruptReview({ runId, phase, reason: "the run is paused" })
    ],
    [
      "to the reviewer that an abort stops",
      () => reviewing().tell({ _tag: "AbortRun", runId, reason: "enough" }),
      reviewer.CloseReview({ runId, phase, aborted: true, reason: "enough" })
    ],
    [
      "to the reviewer whose phase is complete",
      () => reviewing().verdict("ready").treeClean(),
      reviewer.CloseReview({ runId, phase, aborted: false, reason: "the phase is complete" })
    ],
    [
      "to the reviewer that a human wants to begin anew",
      () => reviewing().verdict("not_ready").answer("fix"),
      reviewer.CloseReview({ runId, phase, aborted: false, reason: "the review starts over" })
    ],
    [
      "to an agent that nobody but auto mode answers",
      () => story().executing({ auto: true }).agentPrompts("p1"),
      to.sessionManager(story().executing().author).ReplyToPrompt({
        promptId: "p1",
        reply: "reject",
        unattended: true
      })
    ],
    [
      "to an agent that a human answers",
      () => story().executing().agentPrompts("p1").answer("once"),
      to.sessionManager(story().executing().author).ReplyToPrompt({ promptId: "p1", reply: "once" })
    ]
  ])("sends %s who is meant and why", (_, tell, message) => {
    assert.deepInclude(tell().last, send(message))
  })

  it("that was never started sends nothing", () => {
    const published = { _tag: "RunCompleted", runId } as const
    assert.deepStrictEqual(react(noRun, [published]), [])
  })
})

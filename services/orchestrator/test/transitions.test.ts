import { assert, describe, it } from "@effect/vitest"
import type { Step } from "@reprise/protocol"
import { runActor } from "../src/machine/actor.ts"
import { workOfRun } from "../src/machine/workOfRun.ts"
import {
  type Cause,
  isAuthorStep,
  isCause,
  isCounted,
  isCountedVisit,
  isEnding,
  isQuestion,
  isTransition
} from "../src/run/transitions.ts"
import { onePhase, runId, startRun } from "./support/samples.ts"
import { Story } from "./support/story.ts"

const steps = [
  ...["PREPARE", "EXECUTE", "QUALITY_CHECK", "QUALITY_RETRY", "REVIEW", "AUTO_FIX", "CHECKPOINT", "ESCALATE"],
  ...["PHASE_GATE", "PHASE_COMPLETE"]
] as ReadonlyArray<Step>

const waysOf = (cause: Cause) =>
  [undefined, ...steps].flatMap((from) =>
    steps.flatMap((to) => (isTransition(from, cause, to) ? [`${from ?? "start"} ${to}`] : []))
  )

describe("the table of transitions", () => {
  it.each<readonly [Cause, ReadonlyArray<string>]>([
    ["run-started", ["start PREPARE"]],
    ["phase-started", ["PREPARE EXECUTE", "PHASE_COMPLETE EXECUTE"]],
    ["fixed", ["QUALITY_RETRY QUALITY_CHECK", "QUALITY_RETRY REVIEW", "AUTO_FIX QUALITY_CHECK", "AUTO_FIX REVIEW"]],
    ["gates-passed", ["QUALITY_CHECK REVIEW"]],
    ["session-lost", ["EXECUTE EXECUTE", "QUALITY_RETRY QUALITY_RETRY", "AUTO_FIX AUTO_FIX"]]
  ])("has these ways and no other: %s", (cause, ways) => {
    assert.deepStrictEqual(waysOf(cause), ways)
  })

  it.each(["resumed", "fix", "auto-retry"] as const)(
    "leads from anywhere only to steps that can be done again: %s",
    (cause) => {
      const retried = ["EXECUTE", "QUALITY_CHECK", "QUALITY_RETRY", "REVIEW", "AUTO_FIX", "CHECKPOINT", "PHASE_GATE"]
      assert.deepStrictEqual(
        waysOf(cause).filter((way) => way.startsWith("ESCALATE ")),
        retried.map((to) => `ESCALATE ${to}`)
      )
      assert.strictEqual(waysOf(cause).length, (steps.length + 1) * retried.length)
    }
  )

  it("knows its causes, and which of them count as visits", () => {
    assert.deepStrictEqual(["fixed", "resumed", "toString", ""].map(isCause), [true, true, false, false])
    assert.deepStrictEqual([undefined, "fixed", "resumed", "unknown"].map(isCountedVisit), [true, true, false, true])
  })

  it("tells an author's steps, and those that take somebody's time", () => {
    assert.deepStrictEqual(steps.filter(isAuthorStep), ["EXECUTE", "QUALITY_RETRY", "AUTO_FIX"])
    assert.deepStrictEqual(
      steps.filter((step) => !isCounted(step)),
      ["PREPARE", "PHASE_COMPLETE"]
    )
    assert.isFalse(isAuthorStep(undefined))
  })
})

describe("the table of questions", () => {
  it.each([
    ["author", ["EXECUTE", "QUALITY_RETRY", "AUTO_FIX"]],
    ["permission", ["EXECUTE", "QUALITY_RETRY", "REVIEW", "AUTO_FIX"]],
    ["quality", ["QUALITY_CHECK"]],
    ["plan", ["PHASE_COMPLETE"]]
  ] as const)("has these steps for the origin %s", (origin, at) => {
    assert.deepStrictEqual(
      steps.filter((step) => isQuestion(step, origin)),
      [...at]
    )
    assert.isFalse(isQuestion(undefined, origin))
  })
})

describe("the table of endings", () => {
  it.each([
    ["completed", [undefined, "PHASE_COMPLETE"]],
    ["failed", [undefined, "PREPARE"]],
    ["aborted", [undefined, ...steps]]
  ] as const)("has these steps for a run that is %s", (ending, at) => {
    assert.deepStrictEqual(
      [undefined, ...steps].filter((step) => isEnding(step, ending)),
      [...at]
    )
  })
})

describe("a run", () => {
  const view = { host: "h1", status: "running" }

  it("has its work on its host while it is open, and on any while no host has taken it", () => {
    assert.deepStrictEqual(workOfRun.by, ["session-manager", "workspace"])
    for (const status of ["running", "waiting", "paused"])
      assert.strictEqual(workOfRun.hostOf({ ...view, status }), "h1")
    assert.strictEqual(workOfRun.hostOf({ status: "running" }), "any")
    for (const status of ["completed", "failed", "aborted", "?"])
      assert.isUndefined(workOfRun.hostOf({ ...view, status }))
    for (const unknown of [undefined, { ...view, host: 1 }]) assert.isUndefined(workOfRun.hostOf(unknown))
  })

  it("is known by its id once it was started", () => {
    assert.isUndefined(runActor.runOf(runActor.initial))
    const story = new Story()
    story.try(startRun({}, onePhase))
    assert.strictEqual(runActor.runOf(story.state), runId)
  })
})

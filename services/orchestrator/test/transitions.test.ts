import { assert, describe, it } from "@effect/vitest"
import type { EscalationOrigin, Step } from "@reprise/protocol"
import { runActor } from "../src/machine/actor.ts"
import { applyMoves } from "../src/machine/applyMoves.ts"
import { missingInTables } from "../src/machine/checkTables.ts"
import { workOfRun } from "../src/machine/workOfRun.ts"
import type { RunEvent } from "../src/run/journal.ts"
import { enter, outcome } from "../src/run/moves.ts"
import type { Run } from "../src/run/state.ts"
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
import { onePhase, runId, startRun, startStandalone } from "./support/samples.ts"
import { Story, story } from "./support/story.ts"

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

describe("the machine", () => {
  const { run } = story().executing().needsHuman()
  const standalone = new Story()
  standalone.tell(startStandalone)
  const started = (step: Step, cause?: string): RunEvent => ({
    ...{ _tag: "StepStarted", runId, step, attempt: 1 },
    ...(cause === undefined ? {} : { cause })
  })
  const asked = (origin: EscalationOrigin, step?: Step): RunEvent => {
    const { question } = story().executing().needsHuman()
    const { step: _, ...ask } = question.ask
    return { _tag: "QuestionAsked", question: { ...question, ask: { ...ask, origin, ...(step ? { step } : {}) } } }
  }

  it.each<readonly [string, RunEvent, Run, string | undefined]>([
    ["a way of the table", started("QUALITY_CHECK", "work-verified"), run, undefined],
    ["no cause", started("REVIEW"), run, "no transition 'none' leads from EXECUTE to REVIEW"],
    ["another cause", started("REVIEW", "fun"), run, "no transition 'fun' leads from EXECUTE to REVIEW"],
    [
      "another way",
      started("PHASE_GATE", "verdict-ready"),
      run,
      "no transition 'verdict-ready' leads from EXECUTE to PHASE_GATE"
    ],
    ["a question of its step", asked("author"), run, undefined],
    ["a question of the step that it names", asked("quality", "QUALITY_CHECK"), run, undefined],
    ["a question of another step", asked("quality"), run, "no question of origin 'quality' is asked at EXECUTE"],
    ["an end of another step", { _tag: "RunCompleted", runId }, run, "no run is completed at EXECUTE"],
    ["a failure of another step", { _tag: "RunFailed", runId, reason: "x" }, run, "no run fails at EXECUTE"],
    ["an abort", { _tag: "RunAborted", runId, reason: "x" }, run, undefined],
    ["the end of a standalone session", { _tag: "RunCompleted", runId }, standalone.run, undefined],
    [
      "another step of it",
      started("REVIEW", "gates-passed"),
      standalone.run,
      "no transition 'gates-passed' leads from EXECUTE to REVIEW"
    ]
  ])("knows whether its tables have %s", (_, event, of, missing) => {
    assert.strictEqual(missingInTables(of, event), missing)
  })

  it("decides nothing that its tables lack, and says that it is a defect", () => {
    const decideLacking = () => applyMoves(run, outcome([], enter("PREPARE", "fix")))
    assert.throws(
      decideLacking,
      `Run ${runId} stays as it was: no transition 'fix' leads from EXECUTE to PREPARE (docs/reference/run-machine.md). This is a defect of Reprise: please report it.`
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

import { assert, describe, it } from "@effect/vitest"
import type { CheckpointReport } from "@reprise/protocol"
import { at } from "./support/checkpoints.ts"
import { row } from "./support/row.ts"
import { failedGate, onePhase, runId, withGates } from "./support/samples.ts"
import { type Story, story } from "./support/story.ts"

describe("the question at human-verify", () => {
  it("says how each step passes or fails, by its name", () => {
    const verifySteps = ["Open the page", "Press the button"]
    const s = at({ task: "P1.2", type: "human-verify", description: "Look", verifySteps })
    assert.deepStrictEqual(
      s.question.ask.options.map(({ label }) => label),
      [
        "everything is right: each step passes",
        'something is wrong: say pass or fail for each step, 1 (Open the page), 2 (Press the button), as in "1: pass; 2: fail, and why"'
      ]
    )
    s.answer("fail", "1: pass; 2: fail, and why").stateWritten().tasksVerified()
    assert.include(s.prompt, "1. Open the page: pass; 2. Press the button: fail (and why)")
  })
})

describe("human-verify in auto mode, with a command that verifies", () => {
  const verify: CheckpointReport = { task: "P1.2", type: "human-verify", description: "Look" }
  const auto = { auto: true, gates: { verify: ["npm run look"] }, limits: { maxAutoRetries: 1 } }
  const verified = (s: Story, passed: boolean): Story => {
    const { attempt, checkpoint } = s.command("RunQualityGates")
    const place = { runId, phase: s.phase.id, attempt, ...(checkpoint === undefined ? {} : { checkpoint }) }
    const result = { ...failedGate, command: "npm run look" }
    return s.tell(
      passed
        ? { _tag: "QualityPassed", ...place, results: [{ ...result, exitCode: 0 }] }
        : { _tag: "QualityFailed", ...place, results: [result] }
    )
  }

  it("runs the command once the record is written, and continues with the next task when it passes", () => {
    const s = at(verify, auto, onePhase)
    assert.deepStrictEqual(s.lines, ["workspace RunQualityGates"])
    const { checkpoint, commands } = s.command("RunQualityGates")
    assert.deepStrictEqual([checkpoint, commands], ["P1.2", ["npm run look"]])
    verified(s, true)
    const { resolution, resumeAt } = s.command("WriteContinuationState")
    assert.deepStrictEqual([resolution, resumeAt], ["passed: `npm run look` passed", "P1.3"])
    assert.strictEqual(s.phase.gateRuns, 0)
  })

  it("repeats the task with the command's output when it fails, counts that as a retry, and then waits for a human", () => {
    const s = verified(at(verify, auto, onePhase), false)
    const { resolution, resumeAt } = s.command("WriteContinuationState")
    assert.deepStrictEqual(
      [resolution, resumeAt],
      ["failed: `npm run look` failed (exit 1, log .reprise/logs/x.log): last words", "P1.2"]
    )
    s.stateWritten().tasksVerified().reports({ result: "checkpoint", checkpoint: verify })
    verified(s.stateWritten(), false)
    assert.strictEqual(s.run.status, "waiting", "one retry is allowed, and it was used up")
    assert.strictEqual(s.question.ask.evidence.gateResults?.[0]?.command, "npm run look")
  })

  it("still tells the author the output of its gates in QUALITY_RETRY", () => {
    const s = story().executing({ ...auto, gates: { ...withGates.gates, ...auto.gates } }, onePhase)
    s.completes("abc1234").commitVerified()
    const { attempt } = s.command("RunQualityGates")
    s.tell({ _tag: "QualityFailed", runId, phase: s.phase.id, attempt, results: [failedGate] })
    s.reports({ result: "checkpoint", checkpoint: verify }).stateWritten()
    verified(s, true).stateWritten().tasksVerified()
    assert.include(s.prompt, "$ npm test\nexit code 1")
  })

  it("leaves the verification to the human outside auto mode", () => {
    assert.strictEqual(at(verify, { gates: { verify: ["npm run look"] } }, onePhase).run.status, "waiting")
  })

  it("ignores results of the phase's own gates", () => {
    const s = at(verify, auto, onePhase)
    const { attempt } = s.command("RunQualityGates")
    row(s, { _tag: "QualityPassed", runId, phase: s.phase.id, attempt, results: [] }).then([])
  })
})

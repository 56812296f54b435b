import { assert, describe, it } from "@effect/vitest"
import { row } from "../support/row.ts"
import { failedGate, item, runId, withGates } from "../support/samples.ts"
import { story } from "../support/story.ts"

const checking = () => story().executing(withGates).worked("abc1234")
const exhausted = () => {
  const s = checking()
  for (const commit of ["abc1", "abc2", "abc3"]) s.gates(false).worked(commit)
  return s.gates(false)
}

describe("QUALITY_CHECK", () => {
  it.each(["QualityPassed", "QualityFailed"] as const)("notes what a person should know of gates: %s", (_tag) => {
    const s = checking()
    const { attempt } = s.command("RunQualityGates")
    s.tell({ _tag, runId, phase: s.phase.id, attempt, results: [], notes: ["a file was moved"] })
    assert.strictEqual(s.run.notices.at(-1), "a file was moved")
  })

  it("goes to REVIEW when all gates pass", () => {
    row(checking(), { _tag: "QualityPassed", runId, phase: "1", attempt: 1, results: [] }).sends([
      {
        _tag: "PublishEvent",
        event: { _tag: "StepStarted", runId, phase: "1", step: "REVIEW", attempt: 1, cause: "gates-passed" }
      },
      ...checking().gates(true).last.slice(1)
    ])
  })

  it("goes to QUALITY_RETRY with each failed command and its output while a retry is left", () => {
    const s = checking().gates(false)
    assert.deepStrictEqual(s.lines, ["StepStarted QUALITY_RETRY (gates-failed)", "session-manager StartTurn"])
    const { freshPrompt, onMissing, prompt, reason, session } = s.command("StartTurn")
    assert.deepStrictEqual([session._tag, reason, onMissing], ["Existing", "quality-fix", "fresh"])
    for (const text of [prompt, freshPrompt ?? ""]) {
      assert.include(text, "$ npm test")
      assert.include(text, "exit code 1")
      assert.include(text, "first words")
      assert.include(text, "last words")
    }
  })

  it.each([
    [{ head: "all of it\n", tail: "all of it\n", overlap: 10 }, "x.log\n> all of it"],
    [{ head: "one two", tail: "two three", overlap: 3 }, "> one two three"],
    [{ head: "first words", tail: "last words" }, "> first words\n> […]\n> last words"],
    [{ head: "as it was before", tail: "" }, "> as it was before"],
    [{ head: "", tail: "", overlap: 0 }, "(no output)"]
  ])("QUALITY_RETRY shows an output once, and a gap only where something is left out: %j", (output, shown) => {
    const s = story().executing(withGates).worked("abc1")
    const { attempt } = s.command("RunQualityGates")
    const { overlap: _, ...gate } = failedGate
    s.tell({ _tag: "QualityFailed", runId, phase: s.phase.id, attempt, results: [{ ...gate, ...output }] })
    const { prompt } = s.command("StartTurn")
    assert.include(prompt, shown)
    assert.strictEqual(prompt.includes("[…]"), !("overlap" in output) && output.tail !== "")
  })

  it("counts what the sandbox refused to each gate, whether it passed or failed", () => {
    const refused = [
      { sandbox: "network", text: "network: example.org" },
      { sandbox: "write", text: "write: /etc/hosts" }
    ] as const
    const { refusals } = checking().gates(false, refused).worked("abc2").gates(true, refused.slice(0, 1)).run
    const seen = { phase: "1", role: "author", unattended: true, gate: failedGate.command } as const
    assert.deepStrictEqual(refusals, [
      { ...seen, ...refused[0], times: 2 },
      { ...seen, ...refused[1], times: 1 }
    ])
  })

  it("runs the gates four times with three retries, and numbers each run", () => {
    const s = exhausted()
    const runs = s.sent.flatMap((one) =>
      one._tag === "SendCommand" && one.command._tag === "RunQualityGates" ? [one.command] : []
    )
    assert.deepStrictEqual(
      runs.map((run) => ("attempt" in run ? run.attempt : 0)),
      [1, 2, 3, 4]
    )
  })

  it("asks a human with origin quality and offers the author's session when no retry is left", () => {
    const s = exhausted()
    assert.deepStrictEqual(s.lines, ["gate RaiseEscalation", "StepWaiting QUALITY_CHECK"])
    const { evidence, origin, sessionId } = s.question.ask
    assert.deepStrictEqual([origin, sessionId], ["quality", s.author])
    assert.deepStrictEqual(evidence.gateResults, [failedGate])
    assert.strictEqual(s.choices[0], "continue-session")
  })

  it("ignores the results of an earlier gate run", () => {
    const s = checking().gates(false).worked("abc1")
    row(s, { _tag: "QualityPassed", runId, phase: "1", attempt: 1, results: [] }).then([])
  })
})

describe("QUALITY_RETRY", () => {
  it("verifies the commit of a complete report, then goes to QUALITY_CHECK", () => {
    const s = checking().gates(false).completes("abc5678")
    assert.deepStrictEqual(s.lines, ["workspace VerifyCommit"])
    assert.strictEqual(s.command("VerifyCommit").base, "abc1234")
    assert.deepStrictEqual(s.commitVerified().lines, ["StepStarted QUALITY_CHECK (fixed)", "workspace RunQualityGates"])
  })

  it.each([undefined, "ABC1234"])(
    "verifies the commit that is verified already again, on whose tree the gates are to run: reported %s",
    (reported) => {
      const s = checking().gates(false).completes(reported)
      assert.deepStrictEqual(s.lines, ["workspace VerifyCommit"])
      const { base, commit } = s.command("VerifyCommit")
      assert.deepStrictEqual([commit, base], ["abc1234", s.phase.base])
      assert.deepStrictEqual(s.commitVerified().lines, [
        "StepStarted QUALITY_CHECK (fixed)",
        "workspace RunQualityGates"
      ])
    }
  )

  it("tells the author when it left the tree otherwise than the commit that is verified already", () => {
    const s = checking().gates(false).completes().commitRejected()
    assert.strictEqual(s.command("StartTurn").reason, "commit-rejected")
  })
})

describe("AUTO_FIX", () => {
  const fixing = () => {
    const s = checking()
    for (const commit of ["abc1", "abc2"]) s.gates(false).worked(commit)
    return s.gates(true).verdict("ready_with_corrections", item("R1"))
  }

  it("resets the quality retries when it begins, and goes to QUALITY_CHECK when it is complete", () => {
    const s = fixing().worked()
    assert.deepStrictEqual(s.lines, ["StepStarted QUALITY_CHECK (fixed)", "workspace RunQualityGates"])
    assert.strictEqual(s.phase.qualityRetries, 0)
    assert.strictEqual(s.gates(false).run.step, "QUALITY_RETRY")
  })

  it("verifies the commit of a complete report first", () => {
    assert.deepStrictEqual(fixing().completes("abd1").lines, ["workspace VerifyCommit"])
  })
})

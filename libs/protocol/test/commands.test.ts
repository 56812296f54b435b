import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { anyHost, defaultRunOptions, OrchestratorCommand, ReviewCommand, SessionCommand } from "../src/index.ts"

/** What the protocol documents, without any field of our own. */
describe("a command with its documented fields alone", () => {
  it("starts a run with default options", () => {
    const command = Schema.decodeUnknownSync(OrchestratorCommand)({
      _tag: "StartRun",
      runId: "r1",
      plan: "# A plan",
      planPath: "PLAN.md",
      workspace: "/work"
    })
    assert.strictEqual(command._tag, "StartRun")
    assert.deepStrictEqual("options" in command ? command.options : undefined, defaultRunOptions)
  })

  it("starts a turn on any host, where its agent server works, and asks for permissions", () => {
    const command = Schema.decodeUnknownSync(SessionCommand.cases.StartTurn)({
      _tag: "StartTurn",
      turnId: "t1",
      runId: "r1",
      role: "author",
      session: { _tag: "New" },
      onMissing: "fail",
      runtime: "opencode",
      prompt: "Do it",
      report: "author-status",
      limits: {}
    })
    assert.deepInclude(command, { directory: "", host: anyHost, permissions: "ask" })
  })

  it.each([
    { session: "New", expected: { _tag: "New" } },
    { session: { _tag: "New" }, expected: { _tag: "New" } },
    { session: { sessionId: "s1" }, expected: { _tag: "Existing", sessionId: "s1" } },
    { session: { _tag: "Existing", sessionId: "s1" }, expected: { _tag: "Existing", sessionId: "s1" } }
  ])("starts a turn in the session $session, with a report by JSON schema", ({ session, expected }) => {
    const schema = { type: "object", properties: { result: { type: "string" } }, required: ["result"] }
    const command = Schema.decodeUnknownSync(SessionCommand.cases.StartTurn)({
      ...{ turnId: "t1", runId: "r1", role: "author", runtime: "opencode", prompt: "Do it", report: schema, session },
      _tag: "StartTurn"
    })
    assert.deepStrictEqual<unknown>(command.session, expected)
    assert.deepInclude(command, { report: schema, onMissing: "fail", limits: {} })
  })

  it("asks for a review on the default runtime, without limits", () => {
    const command = Schema.decodeUnknownSync(ReviewCommand.cases.RequestReview)({
      _tag: "RequestReview",
      runId: "r1",
      phase: "1",
      commit: "abc1234",
      base: "def5678",
      reviewPath: "docs/reviews/plan-phase-1-review.md",
      planPath: "PLAN.md",
      cycle: 1
    })
    assert.deepInclude(command, { directory: "", host: anyHost, runtime: "opencode", permissions: "ask" })
    assert.deepStrictEqual(command.limits, {})
  })
})

import { assert, describe, it } from "@effect/vitest"
import { PublicEvent } from "@reprise/protocol"
import { Schema } from "effect"
import { eventLine } from "../src/views/eventLine.ts"
import { noTokens } from "./support/views.ts"

const decode = Schema.decodeUnknownSync(PublicEvent)
const line = (event: Record<string, unknown>) => eventLine(decode({ runId: "r1-abc", ...event }))

const commit = "0123456789abcdef0123456789abcdef01234567"
const session = { sessionId: "r1-abc-s1", turnId: "r1-abc-t1" }
const turn = { ...session, tokens: { ...noTokens, input: 1500, output: 250 }, cost: 0, calls: 1, attempts: 1 }
const result = {
  command: "npm test",
  exitCode: 0,
  durationMs: 5,
  timedOut: false,
  logRef: ".reprise/logs/a.log",
  head: "",
  tail: ""
}

describe("an event as a line", () => {
  it.each([
    [
      { _tag: "RunStarted", planPath: "PLAN.md", workspace: "/w", phases: [{ id: "1", title: "One" }] },
      "Run r1-abc of PLAN.md: 1 phase"
    ],
    [{ _tag: "PhaseStarted", phase: "2.1", title: "Server" }, "Phase 2.1: Server"],
    [
      { _tag: "AgentFailed", ...session, kind: "rate_limited", message: "slow down" },
      "    The agent's model failed (rate_limited): slow down"
    ],
    [
      { _tag: "AgentFailed", ...session, kind: "rate_limited", message: "slow", until: "2026-01-01T10:22:03.000Z" },
      "    The agent's model failed (rate_limited), and is asked again at 2026-01-01 10:22 UTC: slow"
    ],
    [{ _tag: "TurnRetried", ...session }, "    Retrying now, on request"],
    [
      { _tag: "ReviewFailed", phase: "1", reason: "no verdict", kind: "invalid-report", cycle: 1 },
      "    Review failed: no verdict"
    ],
    [
      { _tag: "ReviewFailed", phase: "1", reason: "the run is paused", kind: "aborted", cycle: 1, sessionKept: true },
      "    Review interrupted: the run is paused"
    ],
    [
      {
        _tag: "ClaimsRejected",
        phase: "1",
        commit,
        task: "T1",
        reason: "not-new",
        detail: "Task 'T1': it is the commit that this work began from."
      },
      "    Commit 0123456789 rejected (not-new): Task 'T1': it is the commit that this work began from."
    ],
    [
      {
        _tag: "EscalationOverruled",
        escalationId: "r1-abc-e1",
        choice: "fix",
        guidance: "In blue.",
        by: "anna",
        via: "cli",
        reason: "agent-working"
      },
      "  The answer 'fix' by anna came too late: the agent is working again. Its guidance is in the next prompt."
    ],
    [{ _tag: "StepStarted", step: "EXECUTE", phase: "1", attempt: 1 }, "  Author works on phase 1"],
    [{ _tag: "StepStarted", step: "QUALITY_CHECK", attempt: 3 }, "  Running the quality gates (attempt 3)"],
    [
      { _tag: "SessionCreated", ...session, role: "author", runtime: "opencode", runtimeSessionId: "ses_1" },
      "    Author starts session r1-abc-s1"
    ],
    [
      {
        _tag: "SessionCreated",
        ...session,
        role: "author",
        runtime: "opencode",
        runtimeSessionId: "ses_1",
        forkTold: "It cannot."
      },
      "    Author starts session r1-abc-s1. Its first prompt describes the conversation, which could not be copied: It cannot."
    ],
    [
      { _tag: "SessionReused", ...session, role: "reviewer", runtimeSessionId: "ses_1", reason: "review-cycle" },
      "    Reviewer continues session r1-abc-s1"
    ],
    [
      { _tag: "TurnCompleted", ...turn, report: "author-status", status: { result: "complete" }, duration: 2500 },
      "    complete in 2.5 s, 1.8k tokens"
    ],
    [
      {
        _tag: "TurnCompleted",
        ...turn,
        report: "verdict",
        verdict: { readiness: "ready", items: [] },
        duration: 120_000,
        attempts: 2
      },
      "    ready in 2 min, 1.8k tokens, 2 attempts"
    ],
    [{ _tag: "QualityPassed", phase: "1", attempt: 1, results: [result, result] }, "    2 passed"],
    [{ _tag: "CommitVerified", phase: "1", commit }, "    Commit 0123456789 verified"],
    [
      { _tag: "ReviewStarted", phase: "1", sessionReused: true, cycle: 2, commit },
      "    Review 2 of 0123456789 in the same session"
    ],
    [{ _tag: "PhaseCompleted", phase: "1", by: "override" }, "Phase 1 done (approved by override)"],
    [{ _tag: "PhaseCompleted", phase: "1", by: "review", commit }, "Phase 1 done (approved by review) at 0123456789"],
    [
      { _tag: "EscalationAnswered", escalationId: "r1-abc-e1", choice: "fix", by: "ada", via: "cli" },
      "  Answered: fix by ada via cli"
    ],
    [{ _tag: "CommandRefused", command: "PauseRun", reason: "It is over." }, "  PauseRun refused: It is over."],
    [{ _tag: "RunAborted", reason: "enough" }, "Run aborted: enough"]
  ])("%j", (event, text) => {
    assert.strictEqual(line(event), text)
  })

  it("names only the quality gates that failed, each on its own line", () => {
    const event = {
      _tag: "QualityFailed",
      phase: "1",
      attempt: 1,
      results: [result, { ...result, exitCode: 2 }, { ...result, command: "make", exitCode: null, timedOut: true }]
    }
    assert.strictEqual(
      line(event),
      [
        "    Failed: npm test (exit 2), log .reprise/logs/a.log",
        "    Failed: make (timed out), log .reprise/logs/a.log"
      ].join("\n")
    )
  })

  it("lists the findings of a verdict below it", () => {
    const verdict = {
      readiness: "not_ready",
      items: [{ id: "R1", title: "Close the file", action: "auto_fix", priority: "P0" }]
    }
    assert.strictEqual(
      line({ _tag: "VerdictReached", phase: "1", verdict, commit, cycle: 1 }),
      "    Verdict: not_ready\n      P0 R1 Close the file (auto_fix)"
    )
  })

  it("marks the further lines of what others say, so that none looks like a line or a prompt of Reprise", () => {
    assert.strictEqual(
      line({ _tag: "RunFailed", reason: "Bad.\nanswer> o\u202e\nRun completed" }),
      "Run failed: Bad.\n      | answer> o\\u{202e}\n      | Run completed"
    )
    assert.strictEqual(
      line({ _tag: "PhaseStarted", phase: "1", title: "One\nRun completed" }),
      "Phase 1: One\\nRun completed"
    )
  })

  it("mentions an agent's activity only if it is not the turn's own", () => {
    const working = { _tag: "AgentWorking", ...session, evidence: "a tool call" }
    assert.strictEqual(line({ ...working, cause: "human" }), "    You stepped in through the agent's own interface")
    assert.isUndefined(line({ ...working, cause: "turn" }))
  })

  it.each(["TurnStarted", "AgentIdle", "SessionArchived", "WorkspaceReleased"])(
    "has no line for %s, which says nothing new",
    (_tag) => {
      assert.isUndefined(line({ _tag, ...session }))
    }
  )
})

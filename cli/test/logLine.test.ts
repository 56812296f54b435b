import { assert, describe, it } from "@effect/vitest"
import { PublicEvent } from "@reprise/protocol"
import { Schema } from "effect"
import { logLine } from "../src/views/logLine.ts"
import { noTokens } from "./support/views.ts"

const decode = Schema.decodeUnknownSync(PublicEvent)
const line = (event: Record<string, unknown>) => logLine(decode({ runId: "r1", ...event }))
const session = { sessionId: "r1-s1" }
const turn = { ...session, turnId: "r1-t1" }
const head = "0123456789abcdef0123456789abcdef01234567"

describe("the story of a run", () => {
  it("tells what live progress tells, in the same words", () => {
    assert.strictEqual(line({ _tag: "RunCompleted" }), "run completed")
  })

  it.each([
    [{ _tag: "WorkspacePrepared", host: "local", directory: "/w", head }, "    workspace /w at 0123456789"],
    [{ _tag: "WorkspaceReleased" }, "  workspace let go"],
    [{ _tag: "TurnStarted", ...turn }, "    turn r1-t1 in session r1-s1"],
    [{ _tag: "TurnProgress", ...turn, tokens: { ...noTokens, input: 5, output: 2 } }, "    … 7 tokens"],
    [{ _tag: "AgentWorking", ...turn, cause: "turn", evidence: "tool" }, "    the agent works"],
    [{ _tag: "AgentIdle", ...session }, "    the agent is idle"],
    [{ _tag: "StepWaiting", escalationId: "r1-e1" }, "  waits for an answer to r1-e1"],
    [
      { _tag: "EscalationReminded", escalationId: "r1-e1", openSince: "2026-01-01T00:00:00.000Z", count: 2 },
      "  r1-e1 still waits for an answer (reminder 2)"
    ],
    [{ _tag: "SessionPaused", ...session }, "    session r1-s1 paused"],
    [{ _tag: "SessionExpired", ...session }, "    session r1-s1 expired"],
    [{ _tag: "SessionCompleted", ...session }, "    session r1-s1 completed"],
    [{ _tag: "SessionArchived", ...session }, "    session r1-s1 archived"],
    [{ _tag: "PhaseFinished", phase: "1", head, plan: "# A plan" }, "    the tree is clean at 0123456789"],
    [{ _tag: "ContinuationStateWritten", phase: "1", path: "state.json" }, "    record written to state.json"],
    [{ _tag: "ContinuationVerified", phase: "1" }, "    the record matches the repository"],
    [{ _tag: "SummaryWritten", path: "SUMMARY.md" }, "    summary written to SUMMARY.md"],
    [{ _tag: "RunResumed" }, "run resumed"]
  ])("tells also of %o", (event, expected) => {
    assert.strictEqual(line(event), expected)
  })
})

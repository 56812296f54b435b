import { assert, describe, it } from "@effect/vitest"
import { PublicEvent } from "@reprise/protocol"
import { Schema } from "effect"
import { logLine } from "../src/views/eventLine.ts"
import { noTokens } from "./support/views.ts"

const decode = Schema.decodeUnknownSync(PublicEvent)
const line = (event: Record<string, unknown>) => logLine(decode({ runId: "r1", ...event }))
const session = { sessionId: "r1-s1" }
const turn = { ...session, turnId: "r1-t1" }
const head = "0123456789abcdef0123456789abcdef01234567"

describe("a line of reprise logs", () => {
  it("is the line of live progress if there is one", () => {
    assert.strictEqual(line({ _tag: "RunCompleted" }), "Run completed")
  })

  it.each([
    [{ _tag: "WorkspacePrepared", host: "local", directory: "/w", head }, "    Workspace /w at 0123456789"],
    [{ _tag: "WorkspaceReleased" }, "  Workspace released"],
    [{ _tag: "TurnStarted", ...turn }, "    Turn r1-t1 in session r1-s1"],
    [{ _tag: "TurnProgress", ...turn, tokens: { ...noTokens, input: 5, output: 2 } }, "    … 7 tokens"],
    [{ _tag: "AgentWorking", ...turn, cause: "turn", evidence: "tool" }, "    The agent is working"],
    [{ _tag: "AgentIdle", ...session }, "    The agent is idle"],
    [{ _tag: "StepWaiting", escalationId: "r1-e1" }, "  Waiting for an answer to r1-e1"],
    [
      { _tag: "EscalationReminded", escalationId: "r1-e1", openSince: "2026-01-01T00:00:00.000Z", count: 2 },
      "  r1-e1 still waits for an answer (reminder 2)"
    ],
    [{ _tag: "SessionPaused", ...session }, "    Session r1-s1 paused"],
    [{ _tag: "SessionExpired", ...session }, "    Session r1-s1 expired"],
    [{ _tag: "SessionCompleted", ...session }, "    Session r1-s1 completed"],
    [{ _tag: "SessionArchived", ...session }, "    Session r1-s1 archived"],
    [{ _tag: "PhaseFinished", phase: "1", head, plan: "# A plan" }, "    The working tree is clean at 0123456789"],
    [
      { _tag: "ContinuationStateWritten", phase: "1", path: "state.json" },
      "    Continuation state written to state.json"
    ],
    [{ _tag: "ContinuationVerified", phase: "1" }, "    The continuation state matches the repository"],
    [{ _tag: "SummaryWritten", path: "SUMMARY.md" }, "    Summary written to SUMMARY.md"],
    [{ _tag: "RunResumed" }, "Run resumed"]
  ])("tells what live progress leaves out: %o", (event, expected) => {
    assert.strictEqual(line(event), expected)
  })
})

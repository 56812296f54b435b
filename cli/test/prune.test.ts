import { assert, describe, it } from "@effect/vitest"
import { Host, RunId, type SessionView, type WorkspaceView } from "@reprise/protocol"
import { prunableRuns, prunableSessions } from "../src/flows/records/pruneRun.ts"
import { actorsOf, isAtRest, type RunRecord } from "../src/flows/records/RunRecord.ts"
import { aQuestion, aRun, aSession } from "./support/views.ts"

const now = Date.parse("2026-03-31T00:00:00.000Z")
const runId = RunId.make("r1-abc")

const record = (more: Partial<RunRecord> = {}): RunRecord => ({
  run: aRun({
    status: "completed",
    phases: [{ id: "2.1", title: "T", state: "completed", reviewCycles: 1, qualityAttempts: 1 }]
  }),
  sessions: [],
  escalations: [],
  workspaces: [],
  ...more
})

describe("the standalone sessions that may be pruned", () => {
  const old = "2026-03-01T00:00:00.000Z"
  it.each([
    ["have ended and are archived", { status: "completed", prompt: "x", transcript: "t" }, true],
    ["never opened", { status: "aborted", prompt: "x", opened: false }, true],
    ["are not archived yet", { status: "completed", prompt: "x" }, false],
    [
      "are saved in parts, and not archived yet",
      { status: "completed", prompt: "x", transcript: "session/s/r/1" },
      false
    ],
    ["live", { status: "paused", prompt: "x", transcript: "t" }, false],
    ["belong to a run, which takes them along", { status: "completed", transcript: "t" }, false]
  ] as const)("%s: %j", (_, { opened = true, ...more }: SessionMore, expected) => {
    const { runtimeSessionId: _id, ...session } = aSession(more)
    const view = { ...session, lastActivityAt: old, ...(opened ? { runtimeSessionId: "ses_1" } : {}) }
    assert.strictEqual(prunableSessions([view], 14, now).length === 1, expected)
    assert.deepStrictEqual(prunableSessions([view], 40, now), [])
  })
})

type SessionMore = Partial<SessionView> & { readonly opened?: boolean }

describe("the runs that may be pruned", () => {
  it.each([
    ["completed", "2026-03-01T00:00:00.000Z", true],
    ["failed", "2026-03-01T00:00:00.000Z", true],
    ["aborted", "2026-03-17T00:00:00.000Z", true],
    ["completed", "2026-03-17T00:00:01.000Z", false],
    ["running", "2025-01-01T00:00:00.000Z", false],
    ["waiting", "2025-01-01T00:00:00.000Z", false],
    ["paused", "2025-01-01T00:00:00.000Z", false]
  ] as const)("of 14 days: one that is %s since %s: %s", (status, updatedAt, expected) => {
    assert.strictEqual(prunableRuns([aRun({ status, updatedAt })], 14, now).length === 1, expected)
  })

  const workspace: WorkspaceView = { runId, status: "active", host: Host.make("local"), directory: "/w", requests: [] }
  it.each([
    ["has given its workspace back", { ...workspace, status: "released" }, true],
    ["still holds its workspace", workspace, false],
    ["was refused a workspace", { runId, status: "preparing", host: workspace.host, requests: [] }, true],
    ["waits for a workspace", { runId, status: "preparing", host: workspace.host, requests: ["q1"] }, false]
  ] as const)("one that %s: %s", (_title, one, expected) => {
    assert.strictEqual(isAtRest(record({ workspaces: [one] })), expected)
  })
})

describe("the actors of a run", () => {
  it("are listed completely, the run's own actor last", () => {
    const session = (sessionId: string, role: string) => aSession({ sessionId, role })
    const question = aQuestion()
    const actors = actorsOf(
      record({
        sessions: [
          session("r1-abc-s1", "author"),
          session("r1-abc-p2_1-s1", "reviewer"),
          session("r1-abc-p9-s2", "reviewer")
        ],
        escalations: [question]
      })
    )
    assert.deepStrictEqual(actors, [
      { service: "reviewer", key: "r1-abc-p2_1" },
      { service: "reviewer", key: "r1-abc-p9" },
      { service: "session-manager", key: "r1-abc-s1" },
      { service: "session-manager", key: "r1-abc-p2_1-s1" },
      { service: "session-manager", key: "r1-abc-p9-s2" },
      { service: "gate", key: question.escalationId },
      { service: "workspace", key: "r1-abc" },
      { service: "orchestrator", key: "r1-abc" }
    ])
  })
})

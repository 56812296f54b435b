import { assert, describe, it } from "@effect/vitest"
import type { MessageMeta, ServiceName } from "@reprise/protocol"
import { logIds } from "../src/runtime/logIds.ts"

const meta: MessageMeta = { id: "m1", type: "X", source: "/x/y", subject: "r1", time: "2026-01-01T00:00:00.000Z" }

const cases: ReadonlyArray<readonly [string, ServiceName, object, Record<string, string>]> = [
  ["an abort of a run", "orchestrator", { _tag: "AbortRun", reason: "x" }, { runId: "r1" }],
  [
    "a turn",
    "session-manager",
    { _tag: "StartTurn", runId: "r1", phase: "2", step: "EXECUTE", turnId: "r1-t1", prompt: "secret words" },
    { runId: "r1", sessionId: "r1", phase: "2", step: "EXECUTE", turnId: "r1-t1" }
  ],
  [
    "an event of a session",
    "orchestrator",
    { _tag: "TurnCompleted", runId: "r1", sessionId: "r1-s1", turnId: "r1-t1" },
    { runId: "r1", sessionId: "r1-s1", turnId: "r1-t1" }
  ],
  ["what a workspace is to do", "workspace", { command: { phase: "2", commit: "abc" } }, { runId: "r1", phase: "2" }],
  ["what it found", "workspace", { event: { phase: "2", dirty: ["a"] } }, { runId: "r1", phase: "2" }],
  ["something else under these names", "gate", { phase: 2, turnId: null }, { runId: "r1", escalationId: "r1" }]
]

describe("a line in the logs", () => {
  it.each(cases)("of %s to the %s has its ids, and nothing that was said", (_name, service, message, expected) => {
    assert.deepStrictEqual(logIds(service, "r1", meta, message), expected)
  })
})

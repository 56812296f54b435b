/** An idle session, as the session-manager shows it. */
import { anyHost, noUsage, type SessionView, sessionIdOf } from "@reprise/protocol"
import { runId } from "./samples.ts"

export const idleSince = "2026-01-01T10:00:00.000Z"

export const sessionView = (more: Partial<SessionView> = {}): SessionView => ({
  ...{ sessionId: sessionIdOf(runId, 1), runId, role: "author", runtime: "opencode", runtimeSessionId: "ses_1" },
  ...{
    directory: "/repo",
    host: anyHost,
    status: "active",
    turns: 2,
    messages: 9,
    toolCalls: 4,
    refusals: 0,
    ...noUsage
  },
  ...{ createdAt: idleSince, lastActivityAt: idleSince, heldBy: "phase" },
  ...more
})

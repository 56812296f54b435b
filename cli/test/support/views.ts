/** Views as the services return them; a test gives only the fields that it cares about. */
import { stripVTControlCharacters } from "node:util"
import { EscalationView, RunView, SessionView } from "@reprise/protocol"
import { Schema } from "effect"

const tokens = { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0 }
const usage = { tokens, cost: 0, calls: 0, turns: 0 }

const decodeRun = Schema.decodeUnknownSync(RunView)
const decodeSession = Schema.decodeUnknownSync(SessionView)
const decodeQuestion = Schema.decodeUnknownSync(EscalationView)

export const noTokens = tokens

export const aRun = (given: Record<string, unknown> = {}): RunView =>
  decodeRun({
    runId: "r1-abc",
    status: "running",
    planPath: "PLAN.md",
    workspace: "/repository",
    phases: [],
    notices: [],
    auto: false,
    sessionsCreated: 0,
    sessionsReused: 0,
    usage: { author: usage, reviewer: usage },
    startedAt: "2026-01-01T10:00:00.000Z",
    updatedAt: "2026-01-01T10:00:00.000Z",
    ...given
  })

export const aSession = (given: Record<string, unknown> = {}): SessionView =>
  decodeSession({
    sessionId: "r1-abc-s1",
    runId: "r1-abc",
    role: "author",
    runtime: "opencode",
    directory: "/repository",
    host: "local",
    status: "completed",
    turns: 1,
    messages: 2,
    toolCalls: 0,
    tokens,
    cost: 0,
    calls: 0,
    createdAt: "2026-01-01T10:00:00.000Z",
    lastActivityAt: "2026-01-01T10:00:00.000Z",
    ...given
  })

/** An open question of an author, with continue, fix, override and abort. */
export const aQuestion = (given: Record<string, unknown> = {}): EscalationView =>
  decodeQuestion({
    escalationId: "r1-abc-e1",
    runId: "r1-abc",
    phase: "2",
    step: "EXECUTE",
    origin: "author",
    reason: "Which language?",
    options: [
      { name: "continue-session", label: "continue session", keys: ["c"], guidance: "optional" },
      { name: "fix", label: "fix in new session", keys: ["f"], guidance: "optional" },
      { name: "override", label: "override and move on", keys: ["o"], guidance: "optional" },
      { name: "abort", label: "abort", keys: ["q"], guidance: "optional" }
    ],
    evidence: {},
    raisedAt: "2026-01-01T10:00:00.000Z",
    state: "open",
    ...given
  })

/** Lines without colours and without the blanks that tables pad with. */
export const plainLines = (text: string): ReadonlyArray<string> =>
  stripVTControlCharacters(text)
    .split("\n")
    .map((line) => line.trimEnd())

/** The cells of each row of a table. */
export const cellsOf = (text: string): ReadonlyArray<ReadonlyArray<string>> =>
  plainLines(text)
    .filter((line) => line.startsWith("│"))
    .map((line) =>
      line
        .split("│")
        .slice(1, -1)
        .map((cell) => cell.trim())
    )

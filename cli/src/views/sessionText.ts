/** Sessions as text for people. Agent text is made safe. Pure. */
import type { SessionView } from "@reprise/protocol"
import type { SessionFile } from "@reprise/session-manager/transcript"
import { dataColor } from "../terminal/Printer.ts"
import { visible } from "../terminal/visible.ts"
import { conversationText, type MessageTitle } from "./conversationText.ts"
import { postponedLong } from "./postponedText.ts"
import { table } from "./table.ts"

const statusOf = ({ escalationId, hosted, status, turnId }: SessionView): string => {
  if (escalationId !== undefined) return "waiting"
  if (turnId === undefined) return status
  return `${status}, in a turn${hosted === false ? " that nobody hosts" : ""}`
}

const kindOf = ({ forkedFrom, prompt, role }: SessionView): string => {
  if (prompt === undefined) return role
  return forkedFrom === undefined ? "standalone" : `fork of ${forkedFrom.sessionId}`
}

const forkPoint = ({ forkedFrom }: SessionView): string | undefined =>
  forkedFrom === undefined ? undefined : `${forkedFrom.sessionId}, after turn ${forkedFrom.turn}`

/** `why`: a sentence. */
const forkToldText = (why: string): string => `described in its first prompt, not copied: ${why}`

/** More than these make the details hard to read; `--json` has them all. */
const turnsShown = 20

const turnRows = ({ pastTurns = [] }: SessionView): ReadonlyArray<readonly [string, string]> =>
  pastTurns.slice(-turnsShown).map(({ commit, endedAt, turn }) => {
    const at = commit === undefined ? "" : ` at commit ${commit.slice(0, 12)}`
    return [`turn ${turn}`, `ended ${endedAt}${at}`]
  })

export const sessionTable = (sessions: ReadonlyArray<SessionView>): string =>
  table(
    ["session", "role", "status", "turns", "input", "output", "cached", "runtime session"],
    sessions.map((session) => [
      session.sessionId,
      kindOf(session),
      statusOf(session),
      session.turns,
      session.tokens.input,
      session.tokens.output,
      session.tokens.cacheRead,
      session.runtimeSessionId ?? ""
    ])
  )

const fieldLines = (session: SessionView, nowMs: number): ReadonlyArray<string> => {
  const { cacheRead, cacheWrite, input, output, reasoning } = session.tokens
  const rows: ReadonlyArray<readonly [string, string | number | undefined]> = [
    ["session", session.sessionId],
    ["run", session.prompt === undefined ? session.runId : "none (standalone)"],
    ["forked from", forkPoint(session)],
    ["conversation", session.forkTold === undefined ? undefined : forkToldText(session.forkTold)],
    ["role", session.prompt === undefined ? session.role : undefined],
    ["phase", session.phase],
    ["status", statusOf(session)],
    ["postponed", session.postponed === undefined ? undefined : postponedLong(session.postponed, nowMs)],
    ["held by", session.heldBy],
    ["question", session.escalationId],
    ["runtime", `${session.runtime} on host ${session.host}`],
    ["runtime session", session.runtimeSessionId],
    ["model", session.model ?? "the runtime's default"],
    ["directory", session.directory],
    ["permissions", session.permissions],
    ["created", session.createdAt],
    ["last activity", session.lastActivityAt],
    ["turns", session.turns],
    ["messages", session.messages],
    ["tool calls", session.toolCalls],
    [
      "tokens",
      `${input} in, ${output} out, ${reasoning} reasoning, ${cacheRead} read from cache, ${cacheWrite} written to cache`
    ],
    ["cost", `$${session.cost.toFixed(4)}`],
    ["last stop reason", session.lastStopReason],
    ["saved", session.savedAt],
    ...turnRows(session)
  ]
  return rows.flatMap(([name, value]) =>
    value === undefined ? [] : [`${`${name}:`.padEnd(18)}${visible(`${value}`)}`]
  )
}

const boldTitle: MessageTitle = (role, timestamp) =>
  `${dataColor.bold(role)}${timestamp === undefined ? "" : dataColor.dim(` ${timestamp}`)}`

export const sessionText = (
  session: SessionView,
  file: Pick<SessionFile, "messages"> | undefined,
  nowMs = Date.now()
): string =>
  [
    ...fieldLines(session, nowMs),
    ...(file === undefined
      ? []
      : ["", file.messages.length === 0 ? "Nothing was said yet." : conversationText(file, boldTitle)])
  ].join("\n")

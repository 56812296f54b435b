/** What an agent does right now, from messages that nobody keeps: who comes late sees what comes next. Pure. */
import type { LiveMessage, Tokens } from "@reprise/protocol"

export interface LiveLine {
  /** A piece of text is one line, however many messages it comes in. */
  readonly id: string
  readonly kind: "text" | "reasoning" | "tool" | "wait"
  readonly text: string
}

export interface LiveNow {
  readonly turnId?: string
  readonly role?: LiveMessage["role"]
  /** The newest, oldest first. */
  readonly lines: ReadonlyArray<LiveLine>
  /** What the turn has used so far. */
  readonly tokens?: Tokens
}

export const nothingYet: LiveNow = { lines: [] }

const keptLines = 12
const keptCharacters = 4_000

const lineOf = (message: LiveMessage, id: string): LiveLine | undefined => {
  switch (message._tag) {
    case "AgentSaid":
      return {
        id: message.part,
        kind: message.kind,
        text: message.omitted === undefined ? message.text : `… ${message.text}`
      }
    case "ToolStarted":
      return { id, kind: "tool", text: `${message.tool} ${message.argument ?? ""}`.trim() }
    case "VendorAwaited":
      return { id, kind: "wait", text: message.message }
    case "UsageSoFar":
      return undefined
  }
}

const added = (lines: ReadonlyArray<LiveLine>, line: LiveLine): ReadonlyArray<LiveLine> => {
  const last = lines.at(-1)
  const isMore = last?.id === line.id && last.kind === line.kind
  const text = (isMore ? last.text + line.text : line.text).slice(-keptCharacters)
  return [...(isMore ? lines.slice(0, -1) : lines), { ...line, text }].slice(-keptLines)
}

/** `id`: a name for the line that the message makes, if it makes a new one. */
export const withMessage = (now: LiveNow, message: LiveMessage, id: string): LiveNow => {
  const { role, turnId } = message
  const same = now.turnId === turnId ? now : { ...nothingYet, turnId, role }
  if (message._tag === "UsageSoFar") return { ...same, tokens: message.tokens }
  const line = lineOf(message, id)
  return line === undefined ? same : { ...same, lines: added(same.lines, line) }
}

/** Why a call on an agent over the Agent Client Protocol fails, in the port's one vocabulary. Pure. */
import { AgentError, type AgentErrorKind } from "../AgentError.ts"

/** What an agent answered in place of a result. */
export interface AgentRefusal {
  readonly code: number
  readonly message: string
}

/** Codes of the protocol: https://agentclientprotocol.com/protocol/v1/schema */
export const authRequired = -32_000
const resourceNotFound = -32_002

const creditWords = /credit balance|insufficient (credit|balance|funds|quota)|out of credits?|billing|payment required/i
const overflowWords = /prompt is too long|maximum context|context (window|length)|input length and .max_tokens. exceed/i
const keyWords = /unauthori[sz]ed|forbidden|invalid (api|x-api)[ -]?key|authentication|not logged in|\b40[13]\b/i
const limitWords = /rate.?limit|too many requests|overloaded|\b(429|529)\b/i
const networkWords = /econn|enotfound|eai_again|etimedout|socket|network|fetch failed|cannot connect|^terminated$/i

/** Some agents answer with a general message, and the vendor's words beside it. */
export const wordsOf = ({ data, message }: { readonly message: string; readonly data?: unknown }): string => {
  const details = typeof data === "object" && data !== null && "details" in data ? data.details : undefined
  return typeof details === "string" && details !== "" ? `${message}: ${details}` : message
}

/** Gemini answers with the status that its vendor gave. */
const statuses: Readonly<Record<number, AgentErrorKind>> = {
  401: "unauthorized",
  402: "out_of_credits",
  403: "unauthorized",
  429: "rate_limited",
  529: "rate_limited"
}

/** Most agents answer with a general code and the vendor's words. */
export const kindOfRefusal = ({ code, message }: AgentRefusal): AgentErrorKind => {
  if (code === authRequired) return "unauthorized"
  if (code === resourceNotFound) return "session-missing"
  if (creditWords.test(message)) return "out_of_credits"
  if (overflowWords.test(message)) return "context-overflow"
  if (keyWords.test(message)) return "unauthorized"
  if (limitWords.test(message)) return "rate_limited"
  return statuses[code] ?? (networkWords.test(message) ? "no_internet" : "other")
}

const longestWords = 1000

export const refused = (operation: string, refusal: AgentRefusal): AgentError => {
  const kind = kindOfRefusal(refusal)
  return new AgentError({
    kind,
    operation,
    detail: refusal.message.slice(0, longestWords),
    sessionUsable: kind !== "session-missing" && kind !== "context-overflow"
  })
}

/** The program does not run, or does not answer as it should. */
export const gone = (operation: string, detail: string): AgentError =>
  new AgentError({ kind: "gone", operation, detail, sessionUsable: true })

export const other = (operation: string, detail: string, sessionUsable = true): AgentError =>
  new AgentError({ kind: "other", operation, detail, sessionUsable })

export const missing = (operation: string, id: string): AgentError =>
  new AgentError({
    kind: "session-missing",
    operation,
    detail: `The agent has no session ${id}. Start a new one.`,
    sessionUsable: false
  })

export const busy = (id: string): AgentError =>
  new AgentError({
    kind: "busy",
    operation: "prompt",
    detail: `Another turn is running in session ${id}. Wait until it is idle, or abort it.`,
    sessionUsable: true
  })

export const aborted: AgentError = new AgentError({
  kind: "aborted",
  operation: "prompt",
  detail: "The turn was aborted.",
  sessionUsable: true
})

/** Why a call on Claude fails: kinds for what Claude reports, and the errors of the port. Pure. */
import type { AgentErrorKind } from "../AgentError.ts"
import { AgentError } from "../AgentError.ts"

export interface ReportedFailure {
  /** The SDK's own name for it, such as `rate_limit`. */
  readonly error: string
  readonly status?: number
  readonly text: string
}

const creditWords = /credit balance|insufficient (credit|balance|funds)|out of credits?|billing/i
const overflowWords = /prompt is too long|context (window|length)|input length and .max_tokens. exceed/i
const networkWords = /econn|enotfound|eai_again|etimedout|socket|network|connection|fetch failed|timed? ?out/i

export const kindOfFailure = ({ error, status, text }: ReportedFailure): AgentErrorKind => {
  if (error === "billing_error" || status === 402 || creditWords.test(text)) return "out_of_credits"
  if (overflowWords.test(text)) return "context-overflow"
  if (error === "authentication_failed" || error === "oauth_org_not_allowed" || status === 401 || status === 403) {
    return "unauthorized"
  }
  if (error === "rate_limit" || error === "overloaded" || status === 429 || status === 529) return "rate_limited"
  if (status === undefined && (error === "unknown" || error === "server_error") && networkWords.test(text)) {
    return "no_internet"
  }
  return "other"
}

/** The kind of a failure that Claude waits out. A try without any answer has no status. */
export const kindOfRetry = (error: string, status: number | null): AgentErrorKind => {
  if (status === null) return "no_internet"
  const kind = kindOfFailure({ error, status, text: "" })
  return kind === "other" ? "rate_limited" : kind
}

export const wordsOfRetry = (error: string, status: number | null): string =>
  status === null
    ? "The connection to the model's vendor was lost."
    : `The model's vendor answered HTTP ${status} (${error}).`

/** Whether trying again is useless: the key was refused, or no credit is left. */
export const isFinal = (kind: AgentErrorKind): boolean => kind === "unauthorized" || kind === "out_of_credits"

export const fault = (operation: string) => (error: { readonly message: string }) =>
  new AgentError({ kind: "other", operation, detail: error.message, sessionUsable: true })

export const gone = (operation: string) => (error: { readonly message: string }) =>
  new AgentError({ kind: "gone", operation, detail: error.message, sessionUsable: true })

export const missing = (operation: string, id: string) =>
  new AgentError({
    kind: "session-missing",
    operation,
    detail: `Claude has no session ${id}. Start a new one.`,
    sessionUsable: false
  })

export const unsafe = (operation: string) =>
  new AgentError({
    kind: "other",
    operation,
    detail:
      "Claude does not run as root with all permissions outside a sandbox. Set IS_SANDBOX=1 if this machine is a sandbox, run as another user, or use --permissions workspace.",
    sessionUsable: true
  })

export const busy = (id: string) =>
  new AgentError({
    kind: "busy",
    operation: "prompt",
    detail: `Another turn is running in session ${id}. Wait until it is idle, or abort it.`,
    sessionUsable: true
  })

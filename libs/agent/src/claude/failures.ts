/** What Claude says went wrong, as a kind of error. Codes decide where there are any. Pure. */
import type { AgentErrorKind } from "../AgentError.ts"

export interface VendorFailure {
  /** The SDK's own name for it, such as `rate_limit`. */
  readonly error: string
  readonly status?: number
  readonly text: string
}

const creditWords = /credit balance|insufficient (credit|balance|funds)|out of credits?|billing/i
const overflowWords = /prompt is too long|context (window|length)|input length and .max_tokens. exceed/i
const networkWords = /econn|enotfound|eai_again|etimedout|socket|network|connection|fetch failed|timed? ?out/i

export const kindOfFailure = ({ error, status, text }: VendorFailure): AgentErrorKind => {
  if (error === "billing_error" || status === 402 || creditWords.test(text)) return "out_of_credits"
  if (overflowWords.test(text)) return "context_overflow"
  if (error === "authentication_failed" || error === "oauth_org_not_allowed" || status === 401 || status === 403) {
    return "unauthorized"
  }
  if (error === "rate_limit" || error === "overloaded" || status === 429 || status === 529) return "rate_limited"
  if (status === undefined && (error === "unknown" || error === "server_error") && networkWords.test(text)) {
    return "no_internet"
  }
  return "other"
}

/** Claude waits only for what passes: a try that got no answer at all has no status. */
export const kindOfRetry = (error: string, status: number | null): AgentErrorKind => {
  if (status === null) return "no_internet"
  const kind = kindOfFailure({ error, status, text: "" })
  return kind === "other" ? "rate_limited" : kind
}

export const wordsOfRetry = (error: string, status: number | null): string =>
  status === null
    ? "The connection to the model's vendor broke off."
    : `The model's vendor answered HTTP ${status} (${error}).`

/** A failed request does not pass by being tried again: the key is refused, or there is nothing left to pay with. */
export const isFinal = (kind: AgentErrorKind): boolean => kind === "unauthorized" || kind === "out_of_credits"

/** Finds the kind of a failure that OpenCode reports: by status code if there is one, else by its text. Pure. */

import type { AssistantMessage } from "@opencode-ai/sdk/v2/client"
import { defined } from "@reprise/protocol"
import type { AgentErrorKind } from "../../AgentError.ts"

export interface Failure {
  readonly kind: AgentErrorKind
  readonly message: string
  readonly sessionUsable: boolean
  readonly retryAfterMs?: number
}

export type OpenCodeError = NonNullable<AssistantMessage["error"]>

const creditWords =
  /insufficient[_ ](quota|credit|balance|funds)|out of credits?|credit balance|exceeded your current quota|billing/i
const rateWords = /rate.?limit|too many requests|overloaded|quota|usage limit|try again (later|in)|capacity/i
const networkWords =
  /econn|enotfound|eai_again|etimedout|socket|network|connection (reset|refused|closed|error)|unable to connect|fetch failed|dns|terminated|timed? ?out/i

/** For a message without a status: a retry that OpenCode waits for carries only the message (measured). */
export const kindOfText = (message: string): AgentErrorKind => {
  if (creditWords.test(message)) return "out_of_credits"
  if (rateWords.test(message)) return "rate_limited"
  return networkWords.test(message) ? "no_internet" : "other"
}

const kindOfStatus = (status: number | undefined, text: string): AgentErrorKind => {
  if (status === undefined) return kindOfText(text)
  if (status === 402 || creditWords.test(text)) return "out_of_credits"
  if (status === 401 || status === 403) return "unauthorized"
  if (status === 429 || status === 529) return "rate_limited"
  return "other"
}

const retryAfterOf = (headers: Readonly<Record<string, string>> | undefined): number | undefined => {
  const ms = Number(headers?.["retry-after-ms"])
  if (Number.isFinite(ms) && ms > 0) return ms
  const seconds = Number(headers?.["retry-after"])
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : undefined
}

/** The failure of an assistant message, or of a `session.error` event. */
export const failureOf = (error: OpenCodeError): Failure => {
  switch (error.name) {
    case "MessageAbortedError":
      return { kind: "aborted", message: "The turn was aborted.", sessionUsable: true }
    case "ProviderAuthError":
      return {
        kind: "unauthorized",
        message: `${error.data.message} (provider ${error.data.providerID}). Log in with 'opencode auth login'.`,
        sessionUsable: true
      }
    case "ContextOverflowError":
      return {
        kind: "context-overflow",
        message: `The conversation is too long for the model: ${error.data.message}`,
        sessionUsable: false
      }
    case "APIError": {
      const { message, responseBody, responseHeaders, statusCode } = error.data
      const retryAfterMs = retryAfterOf(responseHeaders)
      return {
        kind: kindOfStatus(statusCode, `${message} ${responseBody ?? ""}`),
        message: statusCode === undefined ? message : `${message} (HTTP ${statusCode} from the model's vendor)`,
        sessionUsable: true,
        ...defined({ retryAfterMs })
      }
    }
    case "MessageOutputLengthError":
      return { kind: "other", message: "The model's answer was cut off at its output limit.", sessionUsable: true }
    default:
      return { kind: kindOfText(error.data.message), message: error.data.message, sessionUsable: true }
  }
}

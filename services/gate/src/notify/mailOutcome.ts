/** What becomes of an e-mail that a server did not take (docs/notifications.md#retries). Pure. */
import type { Outcome } from "./attempts.ts"

/** How sending ended, without the server's words. */
export interface MailTrouble {
  /** The kind of trouble, as nodemailer names it, such as `ESOCKET`. */
  readonly code?: string
  /** What the operating system said, such as `ECONNREFUSED`. */
  readonly originalCode?: string
  /** What the server was asked last, such as `RCPT TO`. */
  readonly command?: string
  /** The status of the server's answer; none: it gave no answer. */
  readonly responseCode?: number
}

const refusals: Readonly<Record<string, string>> = {
  AUTH: "it refuses the user or the password",
  "MAIL FROM": "it refuses the sender",
  "RCPT TO": "it refuses the recipient",
  DATA: "it refuses the message",
  STARTTLS: "it offers no STARTTLS, without which nothing is sent to another machine"
}

/** RFC 5321: what is answered with 5yz would be so again, 4yz passes by itself. */
const answered = (status: number, command: string): Outcome => {
  const isFinal = status >= 500 && status < 600
  const what = isFinal ? refusals[command.replace(/^AUTH .*/, "AUTH")] : undefined
  const reason = what === undefined ? `it answered ${status}` : `${what} (${status})`
  return isFinal ? { _tag: "Refused", reason } : { _tag: "Failed", reason, maybeReceived: false }
}

/** The server and Reprise do not fit, which no other attempt would change. */
const unfit: Readonly<Record<string, string>> = {
  EAUTH: "it offers no way to sign in with a password",
  EMESSAGE: "it takes no message of this size",
  EENVELOPE: "it takes no such address"
}

const beforeTheMessage: ReadonlySet<string> = new Set([
  "EDNS",
  "ETLS",
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN"
])

export const mailOutcome = (trouble: MailTrouble, timeoutMs: number): Outcome => {
  const { code = "unknown", command = "", originalCode = code, responseCode } = trouble
  if (responseCode !== undefined) return answered(responseCode, command)
  if (code === "EABORT") {
    return { _tag: "Failed", reason: `it did not answer within ${timeoutMs / 1000} seconds`, maybeReceived: true }
  }
  const misfit = unfit[code]
  if (misfit !== undefined) return { _tag: "Refused", reason: misfit }
  const how = code === "ETLS" ? "reached over TLS" : "reached"
  const maybeReceived = !beforeTheMessage.has(code) && !beforeTheMessage.has(originalCode)
  return { _tag: "Failed", reason: `it cannot be ${how} (${originalCode})`, maybeReceived }
}

/** What a human is told beside a failure of the model's vendor that passes by itself. Pure. */
import { type FailureKind, minuteText, passesByItself } from "@reprise/protocol"
import type { Run } from "./state.ts"

interface Failure {
  readonly kind: FailureKind
  /** When the vendor wants to be asked again, ISO 8601. */
  readonly retryAt?: string
}

const advice: { readonly [Kind in FailureKind]?: string } = {
  out_of_credits: " Add credit first, or go on with another model."
}

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`)

/** The reason with what helps, and that nobody tries again before the answer. In auto mode nobody is asked. */
export const withVendorAdvice = ({ request }: Run, reason: string, { kind, retryAt }: Failure): string => {
  if (!passesByItself(kind) || request.options.auto) return reason
  const when = retryAt === undefined ? "" : ` It may be asked again at ${minuteText(retryAt)}.`
  return `${sentence(reason)}${advice[kind] ?? ""}${when} Reprise does nothing before you answer; to continue is to retry.`
}

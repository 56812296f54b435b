/** Errors of the broker as people read them: without subjects and operations, which `--debug` and the log show. */
import { BrokerFault, BrokerFull, SendFailed } from "@reprise/actor"
import { PermissionDenied } from "@reprise/nats"
import { Predicate } from "effect"
import { missing } from "../../terminal/CliFailure.ts"

const hint = "No data is lost. Try again in a moment; 'reprise doctor' shows whether the broker answers."

const whyOf = (cause: unknown): string => {
  if (cause instanceof BrokerFull) return "the broker has no space left"
  if (cause instanceof BrokerFault) return whyOf(cause.cause)
  if (Predicate.isTagged(cause, "RequestTimedOut")) return "the broker did not answer in time"
  return "the broker failed"
}

/** What the broker did not allow, wherever in the error that is. */
const deniedIn = (error: unknown): PermissionDenied | undefined => {
  if (error instanceof PermissionDenied) return error
  return error instanceof SendFailed || error instanceof BrokerFault ? deniedIn(error.cause) : undefined
}

/** A failure with a sentence and the next step for an error of the broker; any other error as it is. */
export const readable = (error: unknown): unknown => {
  const denied = deniedIn(error)
  if (denied !== undefined) {
    return missing(
      "not-permitted",
      denied.message,
      "Nothing was changed. If another version of Reprise runs in this repository, end it. docs/operations.md says who may do what.",
      error
    )
  }
  if (error instanceof SendFailed && (error.cause instanceof BrokerFault || error.cause instanceof BrokerFull)) {
    return missing("broker", `${error.what} was not sent: ${whyOf(error.cause)}.`, hint, error)
  }
  if (!(error instanceof BrokerFault || error instanceof BrokerFull)) return error
  const why = whyOf(error)
  return missing("broker", `${why.charAt(0).toUpperCase()}${why.slice(1)}.`, hint, error)
}

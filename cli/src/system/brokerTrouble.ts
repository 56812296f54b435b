/** Errors of the broker as people read them: without subjects and operations, which `--debug` and the log show. */
import { BrokerFault, BrokerFull, SendFailed } from "@reprise/actor"
import { Predicate } from "effect"
import { missing } from "../terminal/CliFailure.ts"

const hint = "No data is lost. Try again in a moment; 'reprise doctor' shows whether the broker answers."

const whyOf = (cause: unknown): string => {
  if (cause instanceof BrokerFull) return "the broker has no space left"
  if (cause instanceof BrokerFault) return whyOf(cause.cause)
  if (Predicate.isTagged(cause, "RequestTimedOut")) return "the broker did not answer in time"
  return "the broker failed"
}

/** A failure with a sentence and the next step for an error of the broker; any other error as it is. */
export const readable = (error: unknown): unknown => {
  if (error instanceof SendFailed && (error.cause instanceof BrokerFault || error.cause instanceof BrokerFull)) {
    return missing("broker", `${error.what} was not sent: ${whyOf(error.cause)}.`, hint, error)
  }
  if (!(error instanceof BrokerFault || error instanceof BrokerFull)) return error
  const why = whyOf(error)
  return missing("broker", `${why.charAt(0).toUpperCase()}${why.slice(1)}.`, hint, error)
}

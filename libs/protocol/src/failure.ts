/**
 * The one vocabulary of failures: of a model's vendor, of an agent runtime, of a turn and of a run. Each wider list
 * contains the narrower ones, so that a kind keeps its name on its way from the runtime to the human.
 */
import { Schema } from "effect"

const passing = ["rate_limited", "out_of_credits", "no_internet"] as const

/** How a model's vendor fails: `AgentFailed.kind`, and the keys of the setting `sessions.onError`. */
export const VendorFailure = Schema.Literals(["unauthorized", "out_of_credits", "rate_limited", "no_internet", "other"])
export type VendorFailure = typeof VendorFailure.Type

/**
 * How an agent runtime refuses or fails.
 * - `session-missing`: it does not know the session.
 * - `busy`: another turn runs in the session.
 * - `context-overflow`: the conversation is too long even after the runtime shortened it.
 * - `gone`: it could not be reached for longer than the grace; the session is as it was.
 * - `aborted`: the turn was interrupted on request.
 */
export const RuntimeFailure = Schema.Literals([
  ...VendorFailure.literals,
  "session-missing",
  "busy",
  "context-overflow",
  "gone",
  "aborted"
])
export type RuntimeFailure = typeof RuntimeFailure.Type

/** How a turn or a review fails: `TurnFailed.kind`, `ReviewFailed.kind`. */
export const FailureKind = Schema.Literals([
  ...VendorFailure.literals,
  "session-missing",
  "gone",
  "aborted",
  "timeout",
  "turn-limit",
  "invalid-report",
  "runtime"
])
export type FailureKind = typeof FailureKind.Type

/**
 * Whether a failure passes by itself. Rate limit, missing credit and missing network are not failures of the work: the
 * turn waits and continues in the same session, and the session stays usable (docs/design/sessions.md#turns).
 */
export const passesByItself = (kind: FailureKind | RuntimeFailure): boolean => passing.some((one) => one === kind)

/**
 * Whether another model may help: the vendor failed, or the runtime, which does not know the model that was named, or whose
 * conversation has become too long for it.
 */
export const otherModelMayHelp = (kind: FailureKind): boolean =>
  kind === "runtime" || (isVendorFailure(kind) && kind !== "no_internet")

/** A runtime's failure as `AgentFailed` reports it: the vendor's failure, or `other`. */
export const vendorFailureOf = (kind: RuntimeFailure): VendorFailure => (isVendorFailure(kind) ? kind : "other")

const isVendorFailure = Schema.is(VendorFailure)

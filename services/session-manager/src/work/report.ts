/** How a worker reports to its session, and the runtime's words in the words of those reports. */
import { Messenger, type WorkContext, WorkFault } from "@reprise/actor"
import type { AgentErrorKind, PendingPrompt } from "@reprise/agent"
import type { FailureKind, PublicEvent } from "@reprise/protocol"
import { Effect } from "effect"
import type { Report, SessionReport } from "../actor/inputs.ts"

export interface Reporting {
  /** Reports under the same `name` of the same work are one report, however often the work is delivered. */
  readonly tell: (name: string, report: SessionReport) => Effect.Effect<void, WorkFault>
  /** Publishes an event that is not journalled. */
  readonly show: (event: PublicEvent) => Effect.Effect<void, WorkFault>
}

export const reportTo = Effect.fnUntraced(function* (context: WorkContext) {
  const messenger = yield* Messenger
  const options = { causation: context.id, subject: context.subject }
  return {
    tell: (name, report) =>
      messenger.send("session-manager", context.key, report, { ...options, id: `${context.id}.${name}` }).pipe(
        Effect.asVoid,
        Effect.mapError((cause) => new WorkFault({ operation: report._tag, cause }))
      ),
    show: (event) =>
      messenger
        .publish("session-manager", event, options)
        .pipe(Effect.mapError((cause) => new WorkFault({ operation: event._tag, cause })))
  } satisfies Reporting
})

const failureKinds = {
  unauthorized: "unauthorized",
  out_of_credits: "out_of_credits",
  rate_limited: "rate_limited",
  no_internet: "no_internet",
  aborted: "aborted",
  session_missing: "session-missing",
  runtime_gone: "gone",
  busy: "runtime",
  context_overflow: "runtime",
  other: "runtime"
} as const satisfies Record<AgentErrorKind, FailureKind>

export const failureKindOf = (kind: AgentErrorKind): FailureKind => failureKinds[kind]

/** A failure that the runtime retries by itself. */
export const recoveringKindOf = (kind: AgentErrorKind): Report<"RecordRecovering">["kind"] =>
  kind === "unauthorized" || kind === "out_of_credits" || kind === "rate_limited" || kind === "no_internet"
    ? kind
    : "other"

/** What a human may answer: a permission's own options; a question's labels, or something else in words. */
export const optionsOf = ({ kind, options }: PendingPrompt): ReadonlyArray<{ name: string; label: string }> => {
  const offered = options.map(({ label, name }) => ({ name, label }))
  return kind === "permission" ? offered : [...offered, { name: "other", label: "Something else, in words" }]
}

/** How a worker reports to its session, and how those reports name what the runtime says. */
import { Messenger, type QueryFailed, type WorkContext, WorkFault } from "@reprise/actor"
import type { PendingPrompt, RuntimeEvent } from "@reprise/agent"
import {
  defined,
  type FailureKind,
  type Key,
  type LiveMessage,
  type PublicEvent,
  type RuntimeFailure,
  SessionId
} from "@reprise/protocol"
import { Effect, Result, Schedule } from "effect"
import type { SessionReport } from "../session/inputs.ts"

/** What a worker or watcher tells its own actor. */
export const toSession = (key: Key, report: SessionReport) => ({
  service: "session-manager" as const,
  key,
  command: report
})

/** The fault of work that could not do this, whatever the cause. */
export const fault = (operation: string) => (cause: unknown) => new WorkFault({ operation, cause })

/** What a rule or the sandbox refused. */
export const refusedReport = ({
  promptId,
  rule,
  sandbox,
  text
}: Extract<RuntimeEvent, { readonly type: "refused" }>): SessionReport => ({
  ...{ _tag: "RecordRefused", promptId, text },
  ...defined({ rule, sandbox })
})

export interface Reporting {
  /** Reports under the same `name` of the same work are one report, however often the work is delivered. */
  readonly tell: (name: string, report: SessionReport) => Effect.Effect<void, WorkFault>
  /** Publishes an event that is not journalled. */
  readonly show: (event: PublicEvent) => Effect.Effect<void, WorkFault>
  /** Tells whoever watches right now. */
  readonly announce: (message: LiveMessage) => Effect.Effect<void>
}

export const reportTo = Effect.fnUntraced(function* (context: WorkContext) {
  const messenger = yield* Messenger
  const options = { causation: context.id, subject: context.subject }
  return {
    tell: (name, report) =>
      messenger
        .send(toSession(context.key, report), { ...options, id: `${context.id}.${name}` })
        .pipe(Effect.asVoid, Effect.mapError(fault(report._tag))),
    announce: messenger.announce,
    show: (event) => messenger.publish("session-manager", event, options).pipe(Effect.mapError(fault(event._tag)))
  } satisfies Reporting
})

/** Pauses before a session is looked up again. */
export const lookAgain = Schedule.min([Schedule.exponential("1 second"), Schedule.spaced("30 seconds")])

const unanswered = new Set(["no-answer", "not-running", "broker"])

/** The session as its actor shows it now. That nobody answers says nothing about the work, so the work waits. */
export const showSession = Effect.fnUntraced(function* ({ key }: Pick<WorkContext, "key">) {
  const messenger = yield* Messenger
  return yield* messenger.show
    .sessionManager(SessionId.make(key))
    .pipe(Effect.retry({ schedule: lookAgain, while: ({ code }: QueryFailed) => unanswered.has(code) }))
})

/** The same; undefined: there is none. */
export const sessionShown = Effect.fnUntraced(function* (context: WorkContext) {
  const found = yield* Effect.result(showSession(context))
  if (Result.isSuccess(found)) return found.success
  if (found.failure.code === "not-found") return undefined
  return yield* new WorkFault({ operation: "look whether the turn is open", cause: found.failure })
})

/** The failure of a turn that a failure of the runtime leads to. */
export const failureKindOf = (kind: RuntimeFailure): FailureKind =>
  kind === "busy" || kind === "context-overflow" || kind === "other" ? "runtime" : kind

/** What a human may answer: a permission's own options; a question's labels, or something else in words. */
export const optionsOf = ({ kind, options }: PendingPrompt): ReadonlyArray<{ name: string; label: string }> => {
  const offered = options.map(({ label, name }) => ({ name, label }))
  return kind === "permission" ? offered : [...offered, { name: "other", label: "Something else, in words" }]
}

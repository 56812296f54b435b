/** How a worker tells its session's actor what it found. */
import { Messenger, type WorkContext, WorkFault } from "@reprise/actor"
import type { PublicEvent } from "@reprise/protocol"
import { Effect } from "effect"
import type { SessionReport } from "../domain/messages.ts"

export interface Reporting {
  /** The same `name` of the same work is told once, however often the work is delivered. */
  readonly tell: (name: string, report: SessionReport) => Effect.Effect<void, WorkFault>
  /** A public event that nobody journals. */
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

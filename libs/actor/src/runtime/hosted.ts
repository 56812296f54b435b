/** Whether anybody does the work that views tell of: only the workers of its host can. */
import type { Host, Subjects } from "@reprise/protocol"
import { Effect, Option, Predicate } from "effect"
import type { WorkOnHost } from "../Actor.ts"
import type { BrokerShape } from "../broker/Broker.ts"

/** Whoever is connected counts as there, however busy: only a worker that is gone has no subscription. */
const patience = "1 second"

interface Presence {
  /** Undefined: the broker did not say. */
  readonly served: boolean | undefined
  /** What whoever serves the subject answered in time. */
  readonly answer?: string
}

export const presenceAt = (broker: BrokerShape, subject: string) =>
  broker.request(subject, "").pipe(
    Effect.map((answer): Presence => (answer === undefined ? { served: false } : { served: true, answer })),
    Effect.timeoutOption(patience),
    Effect.map(Option.getOrElse((): Presence => ({ served: true }))),
    Effect.catch(() => Effect.succeed<Presence>({ served: undefined }))
  )

/** Undefined: the broker did not say. */
export const isServed = (broker: BrokerShape, subject: string) =>
  Effect.map(presenceAt(broker, subject), ({ served }) => served)

/** Undefined where one of the services could not be asked. */
const isHosted = (broker: BrokerShape, subjects: Subjects, { by }: WorkOnHost, host: Host) =>
  Effect.map(
    Effect.forEach(by, (service) => isServed(broker, subjects.worker(service, host)), { concurrency: "unbounded" }),
    (answers) => (answers.includes(false) ? false : answers.includes(undefined) ? undefined : true)
  )

/** The views, with the field `hosted` where their work is not over. Each host is asked once. */
export const withHosted = Effect.fnUntraced(function* (
  broker: BrokerShape,
  subjects: Subjects,
  work: WorkOnHost | undefined,
  views: ReadonlyArray<unknown>
) {
  if (work === undefined) return views
  const hosts = new Set(views.flatMap((view) => work.hostOf(view) ?? []))
  const asked = yield* Effect.forEach(
    hosts,
    (host) => Effect.map(isHosted(broker, subjects, work, host), (hosted) => [host, hosted] as const),
    { concurrency: "unbounded" }
  )
  const known = new Map<Host | undefined, boolean | undefined>(asked)
  return views.map((view) => {
    const hosted = known.get(work.hostOf(view))
    return hosted === undefined || !Predicate.isObject(view) ? view : { ...view, hosted }
  })
})

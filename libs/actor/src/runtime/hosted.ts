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

/** Whether somebody does the work of these hosts; each is asked once. A host of which nobody could tell is undefined. */
export const askHosts = Effect.fnUntraced(function* (
  broker: BrokerShape,
  subjects: Subjects,
  work: WorkOnHost,
  hosts: Iterable<Host>
) {
  const asked = yield* Effect.forEach(
    new Set(hosts),
    (host) => Effect.map(isHosted(broker, subjects, work, host), (hosted) => [host, hosted] as const),
    { concurrency: "unbounded" }
  )
  return new Map<Host | undefined, boolean | undefined>(asked)
})

/** The view, with the field `hosted` where its work is not over. */
export const withHosted = Effect.fnUntraced(function* (
  broker: BrokerShape,
  subjects: Subjects,
  work: WorkOnHost | undefined,
  view: unknown
) {
  const host = work?.hostOf(view)
  if (work === undefined || host === undefined) return view
  const hosted = (yield* askHosts(broker, subjects, work, [host])).get(host)
  return hosted === undefined || !Predicate.isObject(view) ? view : { ...view, hosted }
})

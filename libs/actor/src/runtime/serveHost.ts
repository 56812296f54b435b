/** What a worker answers for its host: whether it is there, which hosts there are, and that it takes no new work. */
import {
  anyHost,
  DrainHost,
  Host,
  HostPresence,
  type HostSlots,
  type HostView,
  type ServiceName,
  type Subjects
} from "@reprise/protocol"
import { Effect, Exit, Option, Result, Schema, Scope, Stream, SubscriptionRef } from "effect"
import type { BrokerShape, QueryHandler } from "../broker/Broker.ts"
import { type ClaimedHost, readClaim } from "./claimHost.ts"
import { presenceAt } from "./hosted.ts"
import { data, failure, loggedFailure } from "./replies.ts"

const readDrain = Schema.decodeUnknownResult(Schema.fromJsonString(DrainHost))
const PresenceText = Schema.fromJsonString(HostPresence)
const readPresence = Schema.decodeUnknownOption(PresenceText)
const encodePresence = Schema.encodeSync(PresenceText)
const decodeHost = Schema.decodeUnknownOption(Host)

const brokerTrouble = (error: { readonly message: string }) =>
  loggedFailure(
    `a host could not be asked or changed: ${error.message}`,
    "broker",
    error.message,
    "Try again; 'reprise doctor' shows what is wrong."
  )

/** A host as it is told: JSON has no fields that are undefined. */
const told = (view: { readonly [Field in keyof HostView]: HostView[Field] | undefined }) => view

interface Serving {
  readonly broker: BrokerShape
  readonly subjects: Subjects
  readonly service: ServiceName
  readonly host: Host
  /** The slots of this host as they are now; undefined: it has no limit. */
  readonly slots?: () => HostSlots | undefined
}

/** The hosts that have claimed a name, whether they are still there or not. */
const listHosts = ({ broker, service, subjects }: Serving): QueryHandler => {
  const key = `host.${service}`
  const viewOf = (host: Host, stored: string) =>
    Effect.map(presenceAt(broker, subjects.worker(service, host)), ({ answer, served }) => {
      const slots = Option.getOrUndefined(readPresence(answer))?.slots
      return told({ host, answers: served, drainedAt: readClaim(stored)?.drainedAt, slots })
    })
  return () =>
    broker.views.list(key).pipe(
      Effect.flatMap((entries) =>
        Effect.forEach(
          entries.flatMap((entry) =>
            Option.match(decodeHost(entry.key.slice(key.length + 1)), {
              onNone: () => [],
              onSome: (host) => [{ host, stored: entry.value }]
            })
          ),
          ({ host, stored }) => viewOf(host, stored),
          { concurrency: "unbounded" }
        )
      ),
      Effect.map(data),
      Effect.catch(brokerTrouble)
    )
}

const drainHost =
  ({ host }: Serving, claimed: ClaimedHost): QueryHandler =>
  (request) => {
    const asked = readDrain(request)
    if (Result.isFailure(asked)) {
      return Effect.succeed(
        failure("bad-request", `The query cannot be read: ${asked.failure.message}`, 'drain takes {"drained": true}.')
      )
    }
    return claimed.setDrained(asked.success.drained).pipe(
      Effect.andThen(SubscriptionRef.get(claimed.drainedAt)),
      Effect.map((drainedAt) => data(told({ host, answers: true, drainedAt }))),
      Effect.catchTag("HostTaken", ({ message }) =>
        Effect.succeed(failure("host-taken", message, "Try again in a moment."))
      ),
      Effect.catch(brokerTrouble)
    )
  }

/** Whether work that any host may do is taken here, and when that may have changed. */
export interface Taking {
  readonly takesAny: () => boolean
  readonly changes: Stream.Stream<unknown>
}

const present =
  ({ slots }: Serving): QueryHandler =>
  () =>
    Effect.sync(() => {
      const now = slots?.()
      return now === undefined ? "" : encodePresence({ slots: now })
    })

/**
 * Answers until the scope closes. Work that any host may do has somebody who does it as long as the host takes it: a host
 * that is drained, or lacks what it needs, does not answer for that.
 */
export const serveHost = Effect.fnUntraced(function* (
  serving: Serving,
  claimed: ClaimedHost | undefined,
  { changes, takesAny }: Taking
) {
  const { broker, host, service, subjects } = serving
  const name = `${service}-worker`
  const forAny = broker.serve(name, { [subjects.worker(service, anyHost)]: present(serving) })
  if (claimed !== undefined) {
    yield* broker.serve(name, {
      [subjects.worker(service, host)]: present(serving),
      [subjects.api(service, "hosts")]: listHosts(serving),
      [subjects.drain(service, host)]: drainHost(serving, claimed)
    })
  }
  const parent = yield* Effect.scope
  let taking: Scope.Closeable | undefined
  const follow = Effect.fnUntraced(function* () {
    const takes = takesAny()
    if (takes === (taking !== undefined)) return
    if (taking !== undefined) yield* Scope.close(taking, Exit.void)
    taking = takes ? yield* Scope.fork(parent) : undefined
    if (taking !== undefined) yield* Scope.provide(forAny, taking)
  })
  yield* follow()
  yield* Effect.forkScoped(
    Effect.catch(Stream.runForEach(changes, follow), (error) =>
      Effect.logWarning(`who does work for any host is not told: ${error.message}`)
    )
  )
})

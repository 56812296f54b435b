/** Appends to a stream with three replicas all the time, and knows how long nothing could be written. */
import { Nats, type NatsShape, publish } from "@reprise/nats"
import { Effect, Schedule, type Scope } from "effect"
import { waitUntil } from "../../harness/waitUntil.ts"

const timeoutMs = 300

/** The server that leads a stream; undefined while there is none. */
export const leaderOf = (jsm: NatsShape["jsm"], name: string) =>
  Effect.promise(() =>
    jsm.streams.info(name).then(
      ({ cluster }) => cluster?.leader,
      () => undefined
    )
  )

/** Completes once every stream has a leader and all of its replicas are up to date. */
export const untilWhole = (jsm: NatsShape["jsm"]) =>
  waitUntil(
    Effect.promise(async () => {
      try {
        const all = await jsm.streams.list().next()
        const isWhole = all.every(
          ({ cluster }) =>
            cluster?.leader !== undefined &&
            (cluster.replicas ?? []).every(({ current, offline }) => current && !offline)
        )
        return isWhole && all.length > 0 ? true : undefined
      } catch {
        return undefined
      }
    }),
    "500 millis"
  )

export interface WriteGaps {
  readonly nats: NatsShape
  /** The longest time without an acknowledged append that overlaps these times. */
  readonly longest: (fromMs: number, untilMs: number) => number
  /** Appends that were acknowledged, and how many of them the stream has. */
  readonly counted: Effect.Effect<{ readonly acknowledged: number; readonly stored: number }>
  /** Has a server lead the probe's stream. */
  readonly moveTo: (server: string) => Effect.Effect<void>
}

/** Appends to a stream of the test until the scope closes, each under an id of its own until it is acknowledged. */
export const writeGaps = Effect.fnUntraced(function* (
  nats: NatsShape,
  test: string
): Effect.fn.Return<WriteGaps, never, Scope.Scope> {
  const { jsm } = nats
  const stream = `PROBE_${test}`
  // One that an operator may write.
  const subject = `reprise.probe.${test}`
  yield* Effect.promise(() => jsm.streams.add({ name: stream, subjects: [subject], storage: "file", num_replicas: 3 }))
  const acknowledged: Array<number> = []
  const append = Effect.gen(function* () {
    const id = `probe-${acknowledged.length}`
    yield* publish({ stream, subject, id, body: id }, { attemptTimeoutMs: timeoutMs, giveUpAfterMs: timeoutMs }).pipe(
      Effect.retry(Schedule.spaced("10 millis")),
      Effect.orDie
    )
    acknowledged.push(Date.now())
  }).pipe(Effect.provideService(Nats, nats))
  yield* Effect.forkScoped(Effect.repeat(append, Schedule.spaced("20 millis")))

  return {
    nats,
    longest: (fromMs, untilMs) =>
      acknowledged.reduce((longest, atMs, n) => {
        const before = acknowledged[n - 1] ?? atMs
        return atMs < fromMs || before > untilMs ? longest : Math.max(longest, atMs - before)
      }, 0),
    counted: Effect.promise(async () => {
      const { state } = await jsm.streams.info(stream)
      return { acknowledged: acknowledged.length, stored: state.messages }
    }),
    moveTo: (server) =>
      Effect.gen(function* () {
        if ((yield* leaderOf(jsm, stream)) === server) return true
        yield* Effect.ignore(Effect.tryPromise(() => nats.nc.request(`$JS.API.STREAM.LEADER.STEPDOWN.${stream}`)))
        yield* waitUntil(leaderOf(jsm, stream))
        return undefined
      }).pipe((look) => Effect.asVoid(waitUntil(look)))
  }
})

// @module-tag long
/**
 * A stall at each request in turn: it, its answer, or what the broker sends by itself never comes. Everything ends, and the
 * process goes on.
 */
import { afterAll, assert, it } from "@effect/vitest"
import { makeNatsProxy, type NatsProxy, type Passing } from "@reprise/testing"
import { Effect, Schedule } from "effect"
import { type Broker, drain, type Messenger } from "../../src/index.ts"
import { jetStream } from "../support/jetStream.ts"
import { onServer, ownServerWorld, processOn } from "../support/systems.ts"
import { before, firstUse, forget, parts, service } from "./parts.ts"

/** Each request of a kind, and not only the first (docs/design/proof.md). */
const isThorough = (process.env["REPRISE_EVERY_REQUEST"] ?? "") !== ""

const settings = { snapshotEvery: 2, ackWaitMs: 1_000, heartbeatMs: 300 }
const requestTimeoutMs = 1_000
/** Each story leaves large bodies behind, and a broker that is full lets nothing end. */
const storageBytes = (isThorough ? 4 : 0.25) * 1024 ** 3

const nameOf = ({ kind, nth, operation }: Passing) => `${kind} ${operation} #${nth}`

type Part = (key: string) => Effect.Effect<void, unknown, Messenger | Broker>

/** A server, a proxy before it, and a process that starts until it has started. */
const openStage = Effect.gen(function* () {
  const world = yield* ownServerWorld(settings, storageBytes)
  const proxy = yield* makeNatsProxy(world.server.url)
  const start = processOn(jetStream(proxy.url, settings, { name: "one", requestTimeoutMs, storageBytes }), [service])
  return { proxy, observer: yield* world.start(), start: Effect.retry(start, Schedule.spaced("100 millis")) }
})

/** The names of what passes. */
const passing = <A, E, R>(proxy: NatsProxy, effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const names = new Set<string>()
    proxy.use((one) => {
      if (isThorough || one.nth === 0) names.add(nameOf(one))
      return undefined
    })
    yield* effect
    proxy.heal()
    return names
  })

/** Runs it while one message does not come, and says whether there was such a message. */
const stalling = <A, E, R>(proxy: NatsProxy, name: string, effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    let isMet = false
    proxy.use((one) => {
      if (nameOf(one) !== name) return undefined
      isMet = true
      return { do: "swallow" }
    })
    yield* effect.pipe(
      Effect.timeoutOrElse({
        duration: "5 minutes",
        orElse: () => Effect.die(new Error(`It never ended when this did not come: ${name}`))
      })
    )
    proxy.heal()
    return isMet
  })

/** What another part stalls already is left to it. */
const claimed = new Set<string>()
const claim = (names: ReadonlySet<string>): ReadonlyArray<string> =>
  [...names].filter((name) => {
    if (!isThorough && claimed.has(name)) return false
    claimed.add(name)
    return true
  })

/** How many of the claimed messages were met while they were told not to come. */
let met = 0

onServer(
  "a stall at any one request",
  () => {
    // Counted over all parts: a part may have claimed little more than what passes by chance, such as a heartbeat.
    afterAll(() => {
      assert.isAtLeast(met, claimed.size / 2)
    })

    for (const [name, part] of Object.entries<Part>(parts)) {
      it.live(`ends, and the process goes on: ${name}`, () =>
        Effect.gen(function* () {
          const { observer, proxy, start } = yield* openStage
          const process = yield* start
          const tell = (key: string) => Effect.provide(part(key), process)
          yield* tell("warm")
          const calm = yield* passing(proxy, tell("calm"))
          const calmAgain = yield* passing(proxy, tell("calm-again"))
          // What passes only now and then, such as a redelivery on a busy machine, may never come again.
          const requests = claim(new Set([...calm].filter((name) => calmAgain.has(name))))
          for (const [n, request] of requests.entries()) {
            if (yield* stalling(proxy, request, tell(`s${n}`))) met += 1
          }
          yield* tell("after")
          yield* Effect.provide(drain, observer)
        }).pipe(Effect.scoped)
      )
    }

    it.live("ends, and the process goes on: while it starts and opens its stores", () =>
      Effect.gen(function* () {
        const { observer, proxy, start } = yield* openStage
        const live = (part: Part) => (key: string) =>
          Effect.scoped(Effect.flatMap(start, (process) => Effect.provide(part(key), process)))
        yield* live(before)("calm")
        const requests = claim(yield* passing(proxy, live(firstUse)("calm")))
        for (const [n, request] of requests.entries()) {
          yield* live(before)(`s${n}`)
          yield* stalling(proxy, request, live(firstUse)(`s${n}`))
          // Large states of all the stories would fill the store.
          yield* Effect.provide(forget(`s${n}`), observer)
        }
        yield* Effect.provide(drain, observer)
      }).pipe(Effect.scoped)
    )
  },
  { concurrent: true, ...(isThorough ? { timeout: 60 * 60_000 } : {}) }
)

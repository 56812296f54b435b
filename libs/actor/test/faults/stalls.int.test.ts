/** A stall at each single request in turn: everything ends, and nothing is lasting harm. */
import { it } from "@effect/vitest"
import { makeNatsProxy, type NatsProxy, type Passing } from "@reprise/testing"
import { Effect, type Scope } from "effect"
import { type Broker, drain, type Messenger } from "../../src/index.ts"
import { jetStream } from "../support/jetStream.ts"
import { onServer, ownServerWorld, type Process, processOn } from "../support/systems.ts"
import { before, firstUse, parts, service } from "./parts.ts"

const settings = { snapshotEvery: 2, ackWaitMs: 1_000, heartbeatMs: 300 }
const requestTimeoutMs = 300

/** What one part has sent and got, each with its number among its kind. */
type Named = `${Passing["kind"]} ${string} #${number}`
const nameOf = ({ kind, nth, operation }: Passing): Named => `${kind} ${operation} #${nth}`

interface Stage {
  readonly proxy: NatsProxy
  readonly observer: Process
  readonly start: Effect.Effect<Process, unknown, Scope.Scope>
}

type Part = (key: string) => Effect.Effect<void, unknown, Messenger | Broker>

const openStage = Effect.gen(function* () {
  const world = yield* ownServerWorld(settings)
  const proxy = yield* makeNatsProxy(world.server.url)
  const start = processOn(jetStream(proxy.url, settings, { name: "one", requestTimeoutMs }), [service])
  return { proxy, observer: yield* world.start(), start: Effect.eventually(start) } satisfies Stage
})

const seenDuring = <A, E, R>(proxy: NatsProxy, effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const seen: Array<Named> = []
    proxy.use((passing) => {
      seen.push(nameOf(passing))
      return undefined
    })
    yield* effect
    proxy.heal()
    return seen
  })

const stalling = <A, E, R>(proxy: NatsProxy, name: Named, effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    let met = false
    proxy.use((passing) => {
      if (nameOf(passing) !== name) return undefined
      met = true
      return { do: "swallow" }
    })
    yield* effect
    proxy.heal()
    return met
  })

const timed = <A, E, R>(what: string, effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const began = Date.now()
    const value = yield* effect.pipe(
      Effect.timeoutOrElse({ duration: "60 seconds", orElse: () => Effect.die(new Error(`${what} never ended`)) })
    )
    const ms = Date.now() - began
    if (ms > 2000) console.log(what, ms)
    return value
  })

onServer(
  "a stalled request",
  () => {
    for (const [name, part] of Object.entries<Part>(parts)) {
      it.live(`harms nothing for good: ${name}`, () =>
        Effect.gen(function* () {
          const { observer, proxy, start } = yield* openStage
          const process = yield* start
          const tell = (key: string) => Effect.provide(part(key), process)
          yield* tell("warm")
          const began = Date.now()
          const requests = yield* seenDuring(proxy, tell("calm"))
          console.log(name, requests.length, Date.now() - began)
          let met = 0
          for (const [n, request] of requests.entries()) {
            if (yield* timed(`${name}: ${request}`, stalling(proxy, request, tell(`s${n}`)))) met += 1
            yield* timed(`${name}: after ${request}`, tell(`c${n}`))
          }
          console.log(name, "met", met, Date.now() - began)
          yield* timed("drain", drain).pipe(Effect.provide(observer))
        }).pipe(Effect.scoped)
      )
    }

    it.live("harms nothing for good: a process that starts", () =>
      Effect.gen(function* () {
        const { observer, proxy, start } = yield* openStage
        const prepare = (key: string) =>
          Effect.scoped(Effect.flatMap(start, (process) => Effect.provide(before(key), process)))
        const tell = (key: string) =>
          Effect.scoped(Effect.flatMap(start, (process) => Effect.provide(firstUse(key), process)))
        yield* prepare("calm")
        const began = Date.now()
        const requests = yield* seenDuring(proxy, tell("calm"))
        console.log("start", requests.length, Date.now() - began)
        let met = 0
        for (const [n, request] of requests.entries()) {
          yield* prepare(`s${n}`)
          if (yield* timed(`start: ${request}`, stalling(proxy, request, tell(`s${n}`)))) met += 1
        }
        console.log("start", "met", met, Date.now() - began)
        yield* timed("drain", drain).pipe(Effect.provide(observer))
      }).pipe(Effect.scoped)
    )
  },
  { concurrent: true }
)

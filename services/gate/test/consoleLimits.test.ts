import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { type Budget, largestBody, limits } from "../src/console/limits.ts"
import { clientOf, makeClients } from "../src/work/console/Clients.ts"
import type { Route } from "../src/work/console/Route.ts"
import { viewRoutes } from "../src/work/console/viewRoutes.ts"

const unlimited: Budget = { burst: 1e9, perSecond: 1e9, mostWaiting: 0 }
const budget: Budget = { burst: 3, perSecond: 2, mostWaiting: 2 }
const clients = (more: Partial<typeof limits> = {}) =>
  makeClients({ ...limits, signedIn: budget, signedOut: budget, allSignedOut: unlimited, ...more })

const nobody = clientOf(undefined, "127.0.0.1")
const ada = clientOf({ role: "answerer" }, "127.0.0.1")

/** Milliseconds after which a request is served, or `refused`. */
const asked = (made: ReturnType<typeof clients>, client: typeof ada, nowMs: number) => {
  const turn = made.turn(client, nowMs)
  return turn._tag === "Served" ? turn.afterMs : "refused"
}

const many = (made: ReturnType<typeof clients>, client: typeof ada, count: number, nowMs = 0) =>
  Array.from({ length: count }, () => asked(made, client, nowMs))

describe("how many requests a client may send", () => {
  it("serves some at once, then lets some wait their turn, and refuses the others", () =>
    assert.deepStrictEqual(many(clients(), ada, 7), [0, 0, 0, 500, 1000, "refused", "refused"]))

  it("serves again as time goes by, and never more at once than at first", () => {
    const made = clients()
    many(made, ada, 10)
    assert.deepStrictEqual(many(made, ada, 2, 500), [1000, "refused"])
    assert.deepStrictEqual(many(made, ada, 6, 1_000_000), [0, 0, 0, 500, 1000, "refused"])
  })

  it("counts no refused request, so whoever comes back in time is served", () => {
    const made = clients()
    many(made, ada, 1_000)
    assert.deepStrictEqual(made.turn(ada, 0), { _tag: "Refused", retryAfterMs: 500 })
    assert.strictEqual(asked(made, ada, 500), 1000)
  })

  it("gains nothing when the clock goes back", () => {
    const made = clients()
    many(made, ada, 10, 10_000)
    assert.strictEqual(asked(made, ada, 0), "refused")
  })

  it("tells tokens and users of a proxy apart, and takes all of an address who have not signed in together", () => {
    const made = clients()
    many(made, nobody, 100)
    // Whoever is on this machine has all of its addresses, and in an IPv6 network as many as they like.
    for (const own of ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.2"])
      assert.strictEqual(asked(made, clientOf(undefined, own), 0), "refused")
    assert.strictEqual(asked(made, clientOf(undefined, "192.0.2.1"), 0), 0)
    many(made, clientOf(undefined, "2001:db8:1:2::1"), 100)
    assert.strictEqual(asked(made, clientOf(undefined, "2001:db8:1:2:3::4"), 0), "refused")
    assert.strictEqual(asked(made, clientOf(undefined, "2001:db8:1:3::1"), 0), 0)
    assert.strictEqual(asked(made, ada, 0), 0)
    many(made, ada, 100)
    // Another session, or another address, is the same person.
    assert.strictEqual(asked(made, clientOf({ role: "answerer" }, "192.0.2.7"), 0), "refused")
    assert.strictEqual(asked(made, clientOf({ role: "viewer" }, "127.0.0.1"), 0), 0)
    assert.strictEqual(asked(made, clientOf({ role: "viewer", user: "answerer" }, "127.0.0.1"), 0), 0)
    assert.strictEqual(asked(made, clientOf({ role: "viewer", user: "answerer" }, "127.0.0.9"), 0), 0)
  })

  it("forgets clients that rest, and has the ones beyond its memory share what one may ask for", () => {
    const made = clients()
    const address = (n: number) => clientOf(undefined, `10.0.${n >> 8}.${n & 255}`)
    for (let n = 0; n < 1_000; n++) many(made, address(n), 1)
    assert.deepStrictEqual(
      Array.from({ length: 6 }, (_, n) => asked(made, address(2_000 + n), 0)),
      [0, 0, 0, 500, 1000, "refused"]
    )
    assert.deepStrictEqual(
      Array.from({ length: 6 }, (_, n) => asked(made, address(3_000 + n), 10_000)),
      [0, 0, 0, 0, 0, 0]
    )
  })

  it("serves strangers of many addresses no more than all of them together may ask for, and those signed in as ever", () => {
    const allSignedOut = { burst: 8, perSecond: 1, mostWaiting: 2 }
    const made = clients({ allSignedOut })
    const stranger = (n: number) => clientOf(undefined, `192.0.2.${n}`)
    const answers = Array.from({ length: 20 }, (_, n) => asked(made, stranger(n), 0))
    assert.deepStrictEqual(answers.slice(0, 11), [0, 0, 0, 0, 0, 0, 0, 0, 1000, 2000, "refused"])
    assert.isTrue(answers.slice(11).every((one) => one === "refused"))
    assert.strictEqual(asked(made, ada, 0), 0)
    // A refused one has not paid: its own budget is whole when there is room again.
    assert.deepStrictEqual(many(made, stranger(19), 4, 60_000), [0, 0, 0, 500])
  })

  it("has room for the pages of a browser: ten tabs that load at once, and then follow a run", () => {
    const made = makeClients(limits)
    for (let n = 0; n < 200; n++) assert.strictEqual(asked(made, ada, 0), 0)
    for (let second = 0; second < 3_600; second++)
      for (let n = 0; n < 30; n++) assert.strictEqual(asked(made, ada, second * 1_000), 0)
  })
})

describe("readings whose work grows with what is stored", () => {
  const readings = { most: 1, mostOfOneKind: 2, longestRestMs: 2_000 }
  const bob = clientOf({ role: "viewer", user: "bob" }, "127.0.0.1")
  const eve = clientOf({ role: "viewer", user: "eve" }, "127.0.0.1")

  it("are all that show what is stored, that of a single question too", () => {
    const routes: ReadonlyArray<Route<unknown>> = viewRoutes
    assert.deepStrictEqual(
      routes.filter(({ method, readsMuch }) => method === "GET" && readsMuch !== true),
      []
    )
  })

  it.effect("are made one after the other, with a rest as long as each took, and few for all together", () =>
    Effect.gen(function* () {
      const { readMuch } = clients({ readings })
      const began: Array<string> = []
      const read = (client: typeof ada, name: string, takes: number) =>
        readMuch(
          client,
          "/plans",
          Effect.gen(function* () {
            began.push(`${name} ${(yield* Clock.currentTimeMillis) / 1000}`)
            yield* Effect.sleep(takes)
          }),
          Effect.void
        )
      yield* Effect.forkChild(read(ada, "ada", 1_000))
      yield* Effect.forkChild(read(ada, "ada again", 9_000))
      yield* Effect.forkChild(read(bob, "bob", 3_000))
      yield* Effect.forkChild(read(eve, "eve", 1_000))
      for (let n = 0; n < 20; n++) yield* TestClock.adjust("1 second")
      // A place rests for one second after one second, and Eve came before Ada's second reading.
      assert.deepStrictEqual(began, ["ada 0", "bob 0", "eve 2", "ada again 4"])
    })
  )

  it.effect("of one kind hold up none of another kind", () =>
    Effect.gen(function* () {
      const { readMuch } = clients({ readings: { ...readings, mostOfOneKind: 1 } })
      yield* Effect.forkChild(readMuch(ada, "/changes", Effect.never, Effect.void))
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* readMuch(bob, "/runs", Effect.succeed("read"), Effect.void), "read")
    })
  )

  it.effect("keep their client's place, and that of no other, until what was read is sent", () =>
    Effect.gen(function* () {
      const { readMuch } = clients({ readings })
      const sent = yield* Deferred.make<void>()
      yield* readMuch(ada, "/logs", Effect.void, Deferred.await(sent))
      const second = yield* Effect.forkChild(readMuch(ada, "/logs", Effect.succeed("read"), Effect.void))
      assert.strictEqual(yield* readMuch(bob, "/logs", Effect.succeed("read"), Effect.void), "read")
      yield* TestClock.adjust("1 minute")
      assert.isUndefined(second.pollUnsafe())
      yield* Deferred.succeed(sent, undefined)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* Fiber.join(second), "read")
    })
  )

  it.effect("take no place from others when whoever waits for one leaves", () =>
    Effect.gen(function* () {
      const { readMuch } = clients({ readings: { ...readings, mostOfOneKind: 1 } })
      const first = yield* Effect.forkChild(readMuch(ada, "/plans", Effect.never, Effect.void))
      const second = yield* Effect.forkChild(readMuch(bob, "/plans", Effect.never, Effect.void))
      yield* TestClock.adjust("1 second")
      yield* Fiber.interrupt(second)
      yield* Fiber.interrupt(first)
      const third = yield* Effect.forkChild(readMuch(bob, "/plans", Effect.succeed("read"), Effect.void))
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* Fiber.join(third), "read")
    })
  )
})

describe("how many event streams a client may have open", () => {
  it("gives a place back when one ends, and counts each client alone", () => {
    const made = clients({ streams: 2 })
    const close = made.openStream(ada)
    assert.isFunction(made.openStream(ada))
    assert.isUndefined(made.openStream(ada))
    assert.isFunction(made.openStream(clientOf({ role: "viewer" }, "127.0.0.1")))
    close?.()
    assert.isFunction(made.openStream(ada))
    assert.isUndefined(made.openStream(ada))
  })
})

describe("the limits in docs/console.md", () => {
  const page = readFileSync(new URL("../../../docs/console.md", import.meta.url), "utf8")
  const { allSignedOut, patience, signedIn, signedOut, underWay } = limits
  it.each([
    `| requests at once, then each second | ${signedIn.burst}, then ${signedIn.perSecond} | ${signedOut.burst}, then ${signedOut.perSecond}; of all addresses ${allSignedOut.burst}, then ${allSignedOut.perSecond} |`,
    `| requests beyond them that wait their turn | ${signedIn.mostWaiting} | ${signedOut.mostWaiting}; of all addresses ${allSignedOut.mostWaiting} |`,
    `| answers under way, once the request is there as a whole | ${underWay.signedIn} | ${underWay.signedOut} |`,
    `| answers under way whose work [grows](#what-an-answer-costs) | ${limits.readings.most}; of all clients ${limits.readings.mostOfOneKind} of one route |`,
    `| open event streams | ${limits.streams};`,
    `| sessions | ${limits.sessions} of a token |`,
    `| connections of all clients | ${limits.connections - limits.signedOutConnections} | ${limits.signedOutConnections} |`,
    `after a second, or at once when there are ${limits.connections} in all |`,
    `| size of a body | ${largestBody.signedIn / 1024} KiB | ${largestBody.ownProof / 1024} KiB`,
    `| time to send the headers of a request | ${patience.headersMs / 1000} seconds |`,
    `| time to send a request | ${patience.requestMs / 1000} seconds |`,
    `| time between two requests of a connection | ${patience.betweenRequestsMs / 1000} seconds |`,
    `| time to take an answer | ${patience.answerMs / 60_000} minutes;`,
    `| time without reading anything | ${patience.readingMs / 60_000} minutes |`
  ])("are those of the console: %s", (line) => assert.isTrue(page.includes(line), line))
})

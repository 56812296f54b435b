/** Every identity may do only its job: what each tries with what belongs to each other, on a real server. */
import { assert, describe, it } from "@effect/vitest"
import type { Identity, NatsShape } from "@reprise/nats"
import { Effect } from "effect"
import {
  type Attempt,
  administration,
  answersOf,
  commandTo,
  everybody,
  forbidden,
  forgedAnswer,
  inboxOfEach,
  listening,
  readsOf,
  removalsOf,
  services,
  writesOf
} from "./attempts.ts"
import { embeddedServer } from "./embeddedServer.ts"
import { forbiddenFor, pairOf, titlesOf } from "./pairs.ts"
import { productionServer } from "./productionServer.ts"
import { refusalsOf } from "./refusals.ts"

const isStatistics = ({ subject }: Attempt) => subject.startsWith("$SYS.")

const doesOnlyItsJob = Effect.fnUntraced(function* (nc: NatsShape["nc"], self: Identity) {
  for (const other of everybody) {
    const { allowed, refused } = pairOf(self, other)
    assert.deepStrictEqual(titlesOf(yield* refusalsOf(nc, refused)), titlesOf(refused), `${self} with ${other}`)
    assert.deepStrictEqual(titlesOf(yield* refusalsOf(nc, allowed)), [], `${self} with ${other}`)
  }
  const nobody = forbiddenFor(self)
  assert.deepStrictEqual(titlesOf(yield* refusalsOf(nc, nobody)), titlesOf(nobody))
})

const servers = {
  "a server with the configuration of the cluster, with keys and TLS": productionServer,
  "the embedded server, where a person knows only what endpoint.json says": embeddedServer
}

describe("everybody", () => {
  for (const [name, start] of Object.entries(servers)) {
    describe(`on ${name}`, () => {
      for (const self of everybody) {
        it.live(`${self} does its own job, and everything of the others is refused as a permissions violation`, () =>
          Effect.gen(function* () {
            const { connect } = yield* start()
            yield* doesOnlyItsJob((yield* connect(self)).nc, self)
          })
        )
      }
    })
  }

  it.live("who reads the servers' statistics can do nothing else", () =>
    Effect.gen(function* () {
      const { connectSystem } = yield* productionServer()
      const { nc } = yield* connectSystem
      const ofServices = services.flatMap((service) => [
        commandTo(service),
        ...writesOf(service),
        ...readsOf(service),
        ...removalsOf(service),
        ...answersOf(service),
        ...listening(service),
        forgedAnswer(service)
      ])
      const [statistics, others] = [forbidden.filter(isStatistics), forbidden.filter((one) => !isStatistics(one))]
      const refused = [...ofServices, ...listening("operator"), ...administration, ...others]
      assert.deepStrictEqual(titlesOf(yield* refusalsOf(nc, refused)), titlesOf(refused))
      assert.deepStrictEqual(titlesOf(yield* refusalsOf(nc, statistics)), [])
    })
  )

  it("tries every pair of identities", () => {
    const pairs = everybody.flatMap((self) => everybody.map((other) => pairOf(self, other)))
    assert.strictEqual(pairs.length, 49)
    assert.isTrue(pairs.every(({ allowed, refused }) => allowed.length + refused.length > 0))
    assert.strictEqual(new Set(Object.values(inboxOfEach)).size, everybody.length)
  })
})

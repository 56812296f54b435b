/** Every identity may do only its job: what each tries with what belongs to each other, on a real server. */
import { assert, describe, it } from "@effect/vitest"
import type { Identity, NatsShape } from "@reprise/nats"
import type { ServiceName } from "@reprise/protocol"
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
import { productionServer } from "./productionServer.ts"
import { refusalsOf } from "./refusals.ts"

/** Who sends commands to whom, as docs/design/architecture.md draws it. */
const commands: Readonly<Record<Identity, ReadonlyArray<ServiceName>>> = {
  orchestrator: ["orchestrator", "session-manager", "reviewer", "gate", "workspace"],
  "session-manager": ["session-manager", "orchestrator"],
  reviewer: ["reviewer", "session-manager"],
  gate: ["gate", "orchestrator"],
  workspace: ["workspace"],
  person: ["orchestrator", "session-manager", "gate"],
  operator: services
}

const isService = (identity: Identity): identity is ServiceName => services.some((one) => one === identity)

const isStatistics = ({ subject }: Attempt) => subject.startsWith("$SYS.")

const titles = (attempts: ReadonlyArray<Attempt>) => attempts.map(({ what }) => what)

interface Pair {
  /** What `self` tries with what belongs to `other`. */
  readonly refused: ReadonlyArray<Attempt>
  readonly allowed: ReadonlyArray<Attempt>
}

const withService = (self: Identity, other: ServiceName): Pair => {
  const command = commandTo(other)
  const mayCommand = commands[self].includes(other)
  const own = [...writesOf(other), ...readsOf(other)]
  const isOwn = self === other || self === "operator"
  return {
    allowed: [
      ...(mayCommand ? [command] : []),
      ...(isOwn ? own : []),
      ...(self === other ? [...answersOf(other), ...listening(other)] : []),
      ...(self === "operator" ? removalsOf(other) : [])
    ],
    refused: [
      ...(mayCommand ? [] : [command]),
      ...(isOwn ? [] : own),
      ...(self === other ? [] : [...answersOf(other), ...listening(other), forgedAnswer(other)]),
      ...(self === "operator" || self === other ? [] : removalsOf(other))
    ]
  }
}

const withClient = (self: Identity, other: Identity): Pair =>
  self === other
    ? { allowed: listening(other), refused: [] }
    : { allowed: [], refused: [...listening(other), forgedAnswer(other)] }

const pairOf = (self: Identity, other: Identity): Pair =>
  isService(other) ? withService(self, other) : withClient(self, other)

const doesOnlyItsJob = Effect.fnUntraced(function* (nc: NatsShape["nc"], self: Identity) {
  for (const other of everybody) {
    const { allowed, refused } = pairOf(self, other)
    assert.deepStrictEqual(titles(yield* refusalsOf(nc, refused)), titles(refused), `${self} with ${other}`)
    assert.deepStrictEqual(titles(yield* refusalsOf(nc, allowed)), [], `${self} with ${other}`)
  }
  const nobody = [...forbidden, ...(self === "operator" ? [] : administration)]
  assert.deepStrictEqual(titles(yield* refusalsOf(nc, nobody)), titles(nobody))
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
      assert.deepStrictEqual(titles(yield* refusalsOf(nc, refused)), titles(refused))
      assert.deepStrictEqual(titles(yield* refusalsOf(nc, statistics)), [])
    })
  )

  it("tries every pair of identities", () => {
    const pairs = everybody.flatMap((self) => everybody.map((other) => pairOf(self, other)))
    assert.strictEqual(pairs.length, 49)
    assert.isTrue(pairs.every(({ allowed, refused }) => allowed.length + refused.length > 0))
    assert.strictEqual(new Set(Object.values(inboxOfEach)).size, everybody.length)
  })
})

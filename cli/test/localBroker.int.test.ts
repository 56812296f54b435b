import { assert, describe, it } from "@effect/vitest"
import { EmbeddedServer, Nats, type NatsShape } from "@reprise/nats"
import { ServiceName } from "@reprise/protocol"
import { Deferred, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { actors } from "../src/system/actors.ts"
import { isBrokerLost } from "../src/system/broker/BrokerLost.ts"
import { BrokerRole, untilBrokerLost } from "../src/system/broker/broker.ts"
import { localBroker } from "../src/system/broker/localBroker.ts"
import { messaging } from "../src/system/broker/messaging.ts"
import { ServiceConnections } from "../src/system/broker/ServiceBrokers.ts"
import { allRuns } from "../src/system/lookUp/lookUp.ts"
import type { SystemOptions } from "../src/system/SystemOptions.ts"
import { configOf } from "./support/layers.ts"
import { scratchRepository } from "./support/scratchRepository.ts"

const scratch = scratchRepository()

const nobodys = "other.command.gate.k"

const options = (): SystemOptions => ({ project: scratch.project, settings: configOf().settings })

const joined = (more: Partial<SystemOptions> = {}) =>
  Layer.build(Layer.fresh(localBroker({ ...options(), ...more }, { waitForOwnerMs: 0, works: true })))

/** The first thing that the server refuses: nobody may do the last one. */
const firstRefusalOf = ({ denied, nc }: NatsShape, ...subjects: ReadonlyArray<string>) => {
  for (const subject of [...subjects, nobodys]) nc.publish(subject, "{}")
  return Effect.flip(denied)
}

describe("the processes of a repository", () => {
  it.live("give each service a connection on which it is itself, and the command one on which it is a person", () =>
    Effect.gen(function* () {
      for (const process of [yield* joined(), yield* joined()]) {
        const parts = Effect.provideContext(process)
        const person = yield* firstRefusalOf(yield* parts(Nats), "reprise.command.gate.k", "reprise.dead.gate.k")
        assert.deepInclude(person, { identity: "person", subject: "reprise.dead.gate.k" })
        const { connect } = yield* parts(ServiceConnections)
        for (const service of ServiceName.literals) {
          const refused = yield* firstRefusalOf(yield* connect(service), `reprise.dead.${service}.k`)
          assert.deepInclude(refused, { identity: service, subject: nobodys })
        }
      }
    }).pipe(Effect.scoped)
  )

  it.live("are the operator where they have to be", () =>
    Effect.gen(function* () {
      yield* joined()
      const operator = yield* Effect.flatMap(joined({ identity: "operator" }), (parts) =>
        Effect.provideContext(Nats, parts)
      )
      const refused = yield* firstRefusalOf(operator, "$JS.API.STREAM.PURGE.REPRISE_DEAD")
      assert.deepInclude(refused, { identity: "operator", subject: nobodys })
    }).pipe(Effect.scoped)
  )

  it.live("notice that the one with the broker has ended even if another has it at once", () =>
    Effect.gen(function* () {
      const owner = yield* Scope.make()
      yield* Scope.provide(joined(), owner)
      const { lost } = yield* Effect.flatMap(joined(), (parts) => Effect.provideContext(BrokerRole, parts))
      const noticed = yield* Effect.forkChild(Effect.flip(lost), { startImmediately: true })
      yield* Scope.close(owner, Exit.void)
      yield* EmbeddedServer.make({ directory: scratch.project.directory })
      assert.isTrue(isBrokerLost(yield* Fiber.join(noticed)))
    }).pipe(Effect.scoped)
  )

  it.live("repeat what their own services have not answered yet: each is connected again at a moment of its own", () =>
    Effect.gen(function* () {
      const owner = yield* Layer.build(messaging(options()))
      const unanswered = yield* Deferred.make<void>()
      const runs = Effect.tapError(allRuns, () => Deferred.succeed(unanswered, undefined))
      const asked = yield* Effect.forkChild(Effect.provideContext(untilBrokerLost(runs), owner))
      yield* Deferred.await(unanswered)
      yield* Effect.provideContext(Layer.build(actors(options())), owner)
      assert.deepStrictEqual(yield* Fiber.join(asked), [])
    }).pipe(Effect.scoped)
  )
})

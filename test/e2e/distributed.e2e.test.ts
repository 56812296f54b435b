import { assert, describe, it } from "@effect/vitest"
import { Broker, localBroker } from "@reprise/testing"
import { Effect } from "effect"
import { plan, script } from "../harness/modelScript.ts"
import { makeWorld } from "../harness/World.ts"

const services = ["orchestrator", "session-manager", "reviewer", "gate", "workspace"]

describe("services in separate processes on one broker", () => {
  it.live("run a plan that a client starts with --nats", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({ openCode: "shared", plan: plan("One"), script: script() })
      const { url } = yield* Broker
      const processes = yield* Effect.forEach(services, (service) => world.start("serve", service, "--nats", url))
      for (const process of processes) yield* process.waitFor(/is ready/)
      const run = yield* world.reprise("run", "PLAN.md", "--nats", url)
      assert.strictEqual(run.code, 0, run.stderr)
      assert.include(world.git("log", "--format=%s"), "Write phase-1.txt")
      const status = yield* world.reprise("status", "--json", "--nats", url)
      assert.include(status.stdout, '"status":"completed"')
    }).pipe(Effect.provide(localBroker))
  )
})

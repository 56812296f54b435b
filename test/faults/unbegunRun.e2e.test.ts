import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { attach, connectionTo, Nats } from "@reprise/nats"
import { freeze } from "@reprise/process/testing"
import { Effect } from "effect"
import { plan, script } from "../harness/modelScript.ts"
import { makeWorld } from "../harness/World.ts"

describe("a run whose host is killed before it has begun", () => {
  it.live("is begun by the command that asked for it, once", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({ openCode: "shared", plan: plan("One"), script: script() })
      const host = yield* world.start("up")
      yield* host.waitFor(/Serving/)
      const endpoint = yield* attach(join(world.root, ".reprise"))
      const { nc } = yield* Nats.make(connectionTo(endpoint, { name: "somebody" }))
      // The frozen host decides nothing. That there are no runs yet, the test says in its place.
      yield* freeze(host.pid)
      nc.subscribe("reprise.api.orchestrator.list", {
        callback: (_, message) => void message.respond('{"ok":true,"data":[]}')
      })
      const asked = Promise.withResolvers<void>()
      nc.subscribe("reprise.command.orchestrator.*", { max: 1, callback: () => asked.resolve() })
      yield* Effect.promise(() => nc.flush())
      const run = yield* world.start("run", "PLAN.md")
      yield* Effect.promise(() => asked.promise)
      yield* host.kill("SIGKILL")
      const { code, stderr } = yield* run.ended
      assert.strictEqual(code, 0, stderr)
      assert.deepStrictEqual(
        (yield* world.runs).map(({ status }) => status),
        ["completed"]
      )
    })
  )
})

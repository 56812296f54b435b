import { assert, describe, it } from "@effect/vitest"
import { freeze } from "@reprise/process/testing"
import { Effect } from "effect"
import { connectAs } from "../harness/brokerOf.ts"
import { plan, script } from "../harness/modelScript.ts"
import { makeWorld } from "../harness/World.ts"

describe("a run whose host is killed before it has begun", () => {
  it.live("is begun by the command that asked for it, once", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({ openCode: "shared", plan: plan("One"), script: script() })
      const host = yield* world.start("up")
      yield* host.waitFor(/Serving/)
      const { nc } = yield* connectAs(world, "orchestrator")
      const { js } = yield* connectAs(world, "operator")
      // The frozen host decides nothing. That there are no runs yet, the test says in its place.
      yield* freeze(host.pid)
      nc.subscribe("reprise.api.orchestrator.list", {
        callback: (_, message) => void message.respond('{"ok":true,"data":[]}')
      })
      yield* Effect.promise(() => nc.flush())
      const commands = yield* Effect.promise(() =>
        js.consumers.get("REPRISE_COMMANDS", { filter_subjects: "reprise.command.orchestrator.*" })
      )
      const run = yield* world.start("run", "PLAN.md")
      yield* Effect.promise(() => commands.next({ expires: 300_000 }))
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

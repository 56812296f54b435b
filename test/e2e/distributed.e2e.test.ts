// @module-tag long
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Broker, localBroker } from "@reprise/testing"
import { Effect } from "effect"
import { heldInMidTurn, plan } from "../harness/modelScript.ts"
import { makeWorld } from "../harness/World.ts"

const services = ["orchestrator", "session-manager", "reviewer", "gate", "workspace"]

describe("services in separate processes on one broker", () => {
  it.live(
    "run a plan that clients start and follow with --nats, host it for every client, and open its session on its own host only",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld({ openCode: "shared", plan: plan("One"), script: heldInMidTurn })
        const { url } = yield* Broker
        const processes = yield* Effect.forEach(services, (service) => world.start("serve", service, "--nats", url))
        for (const process of processes) yield* process.waitFor(/is ready/)
        const run = yield* world.start("run", "PLAN.md", "--nats", url)
        yield* world.model.awaitHeld("mid-turn")
        const elsewhere = { environment: { REPRISE_HOST: "another" } }
        const open = JSON.parse((yield* world.repriseIn(elsewhere, "status", "--json", "--nats", url)).stdout)
        assert.deepStrictEqual([open.data[0].status, open.data[0].hosted], ["running", true])
        const listed = yield* world.reprise("sessions", "list", "--json", "--nats", url)
        const [{ runtimeSessionId, sessionId }] = JSON.parse(listed.stdout).data
        const attach = ["attach", sessionId, "--json", "--nats", url]
        const here = JSON.parse((yield* world.reprise(...attach)).stdout)
        assert.includeMembers(here.data.argv, ["attach", "--session", runtimeSessionId])
        const there = yield* world.repriseIn(elsewhere, ...attach)
        const { error } = JSON.parse(there.stdout)
        assert.deepStrictEqual([there.code, error.code, /on host local/.test(error.message)], [2, "elsewhere", true])
        writeFileSync(join(world.root, "unfinished.txt"), "what the author has not committed yet\n")
        const follower = yield* world.start("run", "PLAN.md", "--nats", url)
        yield* follower.waitFor(/Continuing run/)
        yield* world.model.release("mid-turn")
        for (const client of [run, follower]) {
          const ended = yield* client.ended
          assert.strictEqual(ended.code, 0, ended.stderr)
        }
        assert.include(world.git("log", "--format=%s"), "Write it")
        const status = yield* world.reprise("status", "--json", "--nats", url)
        assert.include(status.stdout, '"status":"completed"')
      }).pipe(Effect.provide(localBroker))
  )
})

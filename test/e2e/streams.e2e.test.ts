// @module-tag long
/** `reprise streams` on a cluster of NATS servers, which start one after the other. */
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, it } from "@effect/vitest"
import { locateServer } from "@reprise/nats"
import { freePort } from "@reprise/process"
import { Effect } from "effect"
import { oneQuestion } from "../harness/modelScript.ts"
import { makeWorld } from "../harness/World.ts"

/** Three servers of one cluster, each of which starts when it is told to. */
const threeServers = Effect.gen(function* () {
  const { path } = yield* locateServer()
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "reprise-three-"))),
    (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true, maxRetries: 20 }))
  )
  const names = ["a", "b", "c"] as const
  const ports = yield* Effect.forEach(names, (name) =>
    Effect.all({ name: Effect.succeed(name), client: freePort, route: freePort })
  )
  const routes = ports.map(({ route }) => `nats://127.0.0.1:${route}`).join(",")
  const start = Effect.fnUntraced(function* (name: (typeof names)[number]) {
    const { client, route } = ports.find((one) => one.name === name) ?? { client: 0, route: 0 }
    const own = ["--name", name, "--addr", "127.0.0.1", "--port", `${client}`, "--store_dir", join(folder, name)]
    const cluster = ["--cluster_name", "test", "--cluster", `nats://127.0.0.1:${route}`, "--routes", routes]
    yield* Effect.acquireRelease(
      Effect.sync(() => spawn(path, ["--jetstream", ...own, ...cluster], { stdio: "ignore" })),
      (child) => Effect.sync(() => child.kill("SIGKILL"))
    )
  })
  return { start, url: ports.map(({ client }) => `nats://127.0.0.1:${client}`).join(",") }
})

it.live("'reprise streams' waits until enough servers of a cluster have met, and says what it waits for", () =>
  Effect.gen(function* () {
    const { start, url } = yield* threeServers
    const world = yield* makeWorld(oneQuestion)
    const environment = { REPRISE_NATS_URL: url, REPRISE_NATS_REPLICAS: "3" }
    const streams = yield* world.startIn({ environment }, "streams")
    yield* streams.waitFor(/127\.0\.0\.1/)
    yield* start("a")
    yield* start("b")
    yield* streams.waitFor(/just started may not know all of its servers yet\. .*set nats\.replicas/)
    yield* start("c")
    yield* streams.waitFor(/REPRISE_JOURNAL: created/)
    const { code } = yield* streams.ended
    assert.strictEqual(code, 0)
  })
)

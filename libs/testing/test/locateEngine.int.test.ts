import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { locateEngine } from "../src/containers/locateEngine.ts"

/** A server that answers the version request of an engine's API. */
const engineAnswering = (body: unknown) =>
  Effect.gen(function* () {
    const directory = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "reprise-engine-"))),
      (path) => Effect.sync(() => rmSync(path, { recursive: true }))
    )
    const socket = join(directory, "engine.sock")
    const server = createServer((_, response) => response.end(JSON.stringify(body)))
    yield* Effect.acquireRelease(
      Effect.callback<void>((resume) => {
        server.listen(socket, () => resume(Effect.void))
      }),
      () => Effect.sync(() => server.close())
    )
    return `unix://${socket}`
  })

describe("locateEngine", () => {
  it.live.each([
    ["podman", { Components: [{ Name: "Podman Engine" }] }],
    ["docker", { Components: [{ Name: "Engine" }] }],
    ["docker", {}]
  ] as const)("takes the engine that answers at DOCKER_HOST and recognises %s", ([kind, body]) =>
    Effect.gen(function* () {
      const host = yield* engineAnswering(body)
      const found = yield* locateEngine({ DOCKER_HOST: host })
      assert.deepStrictEqual(found, Option.some({ _tag: "Running", kind, host }))
    })
  )

  it.live("looks further when nothing answers at DOCKER_HOST", () =>
    Effect.gen(function* () {
      const host = "unix:///nowhere/docker.sock"
      const found = yield* locateEngine({ DOCKER_HOST: host, PATH: "/nowhere" })
      assert.isFalse(Option.exists(found, (engine) => engine._tag === "Running" && engine.host === host))
    })
  )
})

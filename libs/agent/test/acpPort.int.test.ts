// @module-tag long
/** OpenCode over the Agent Client Protocol also listens on the loopback, where other users and web pages reach it. */
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { assert, it } from "@effect/vitest"
import { freePort } from "@reprise/process"
import { Context, Effect, Layer } from "effect"
import { AgentRuntime, layerAcp, locateOpenCode } from "../src/index.ts"
import { acpEnvironment } from "./contract/acpWorld.ts"
import { Places } from "./contract/Places.ts"

it.live("OpenCode over the protocol answers nobody without the password at its port", () =>
  Effect.gen(function* () {
    const { directory, root, stateDirectory } = yield* Places
    mkdirSync(join(root, "home"), { recursive: true })
    const port = yield* freePort
    const runtime = Context.get(
      yield* Layer.build(
        layerAcp({
          command: `${yield* locateOpenCode()} acp --port ${port}`,
          stateDirectory,
          environment: acpEnvironment(root, "http://127.0.0.1:9/v1")
        })
      ),
      AgentRuntime
    )
    yield* runtime.create({ directory, title: "listens", permissions: "all" })
    const asked = (path: string, init: RequestInit = {}) =>
      Effect.promise(() => fetch(`http://127.0.0.1:${port}${path}`, init).then(({ status }) => status))
    const terminal = {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"command":"/bin/true"}'
    }
    assert.deepStrictEqual(
      [yield* asked("/global/health"), yield* asked("/session"), yield* asked("/pty", terminal)],
      [401, 401, 401]
    )
  }).pipe(Effect.scoped, Effect.provide(Places.layer))
)

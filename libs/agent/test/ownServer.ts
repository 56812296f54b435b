/** Owns an OpenCode server until it is killed. Arguments: the state directory, the root of temporary directories. */
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { Effect, Layer, Option } from "effect"
import { OpenCodeServer } from "../src/index.ts"
import { openCodeEnvironment } from "./contract/openCodeWorld.ts"

const [stateDirectory = "", root = ""] = process.argv.slice(2)
mkdirSync(join(root, "home"), { recursive: true })

const report = Effect.gen(function* () {
  const server = yield* OpenCodeServer
  yield* server.connection
  process.stdout.write(`${Option.getOrThrow(yield* server.pid)}\n`)
  return yield* Effect.never
})

const environment = openCodeEnvironment(root, "http://127.0.0.1:9/v1")
Effect.runFork(Effect.provide(report, Layer.orDie(OpenCodeServer.layer({ stateDirectory, environment }))))

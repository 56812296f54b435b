/** A real OpenCode at an address that stays, as another container runs it: a test can stop it and start it again. */
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { locateOpenCode } from "@reprise/agent"
import { startGuarded } from "@reprise/process"
import { Effect } from "effect"
import type { World } from "./World.ts"

const password = "a-password-of-this-test"

/** The settings of a world that uses it. */
export const ownOpenCodeAt = (port: number) => ({
  REPRISE_OPENCODE_URL: `http://127.0.0.1:${port}`,
  OPENCODE_SERVER_PASSWORD: password
})

/** Runs until the scope closes. It answers a while later. */
export const startOpenCode = Effect.fnUntraced(function* (world: World, port: number) {
  const directory = join(world.root, "..", "own-opencode")
  mkdirSync(directory, { recursive: true })
  const environment = Object.fromEntries(
    Object.entries(world.environment).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  )
  yield* Effect.acquireRelease(
    startGuarded({
      program: yield* locateOpenCode(),
      args: ["serve", "--hostname", "127.0.0.1", "--port", String(port)],
      environment: { ...environment, OPENCODE_SERVER_PASSWORD: password },
      log: join(directory, "log"),
      directory
    }),
    ({ stop }) => stop
  )
})

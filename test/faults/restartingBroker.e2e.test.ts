import { createServer } from "node:net"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { attach } from "@reprise/nats"
import { freeze } from "@reprise/process/testing"
import { Effect, Fiber } from "effect"
import { plan, script } from "../harness/modelScript.ts"
import { makeWorld } from "../harness/World.ts"
import { waitUntil } from "../harness/waitUntil.ts"

/** Takes connections in place of the killed broker and drops them; completes once it has dropped one. */
const dropOne = (port: number) =>
  Effect.callback<void>((resume) => {
    const server = createServer((socket) => {
      socket.destroy()
      server.close(() => resume(Effect.void))
    })
    server.listen(port, "127.0.0.1")
  })

const hasEnded = (pid: number) =>
  Effect.sync(() => {
    try {
      process.kill(pid, 0)
      return undefined
    } catch {
      return true
    }
  })

describe("a command that comes while the host starts its broker again", () => {
  it.live("waits for the broker", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({ openCode: "shared", plan: plan("One"), script: script() })
      const host = yield* world.start("up")
      yield* host.waitFor(/Serving/)
      const { pid, url } = yield* attach(join(world.root, ".reprise"))
      // The frozen host does not start the broker again before the command has met nobody.
      yield* freeze(host.pid)
      process.kill(pid, "SIGKILL")
      yield* waitUntil(hasEnded(pid))
      const dropped = yield* Effect.forkChild(dropOne(Number(new URL(url).port)), { startImmediately: true })
      const asked = yield* Effect.forkChild(world.reprise("status"), { startImmediately: true })
      yield* Fiber.join(dropped)
      process.kill(host.pid, "SIGCONT")
      const { code, stderr } = yield* Fiber.join(asked)
      assert.strictEqual(code, 0, stderr)
    })
  )
})

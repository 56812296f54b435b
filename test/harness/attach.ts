/** A human who opens an agent's session in OpenCode itself, beside Reprise. */
import { join } from "node:path"
import { AgentRuntime, layerOpenCode, OpenCodeServer, promptIds } from "@reprise/agent"
import { Effect, Layer, Option, Redacted } from "effect"
import type { World } from "./World.ts"
import { waitUntil } from "./waitUntil.ts"

/** The OpenCode that a world's Reprise runs now. Waits until it does. */
const connectionOf = (world: World) =>
  waitUntil(Effect.map(OpenCodeServer.find(join(world.root, ".reprise")), Option.getOrUndefined))

/** A session is deleted in OpenCode itself, for good. */
export const deleteSession = Effect.fnUntraced(function* (world: World, runtimeSessionId: string) {
  const { password, url, username } = yield* connectionOf(world)
  const authorization = `Basic ${Buffer.from(`${username}:${Redacted.value(password)}`).toString("base64")}`
  const answer = yield* Effect.promise(() =>
    fetch(`${url}/session/${runtimeSessionId}`, { method: "DELETE", headers: { authorization } })
  )
  if (!answer.ok) return yield* Effect.die(new Error(`OpenCode deleted nothing: HTTP ${answer.status}`))
})

/** The port on that OpenCode. */
export const attached = <A, E, R>(world: World, effect: Effect.Effect<A, E, R>) =>
  Effect.scoped(
    Effect.gen(function* () {
      const server = OpenCodeServer.layerConnect(yield* connectionOf(world))
      const runtime = yield* Layer.build(layerOpenCode({ pollMs: 200 }).pipe(Layer.provide(server)))
      return yield* Effect.provideContext(effect, runtime)
    })
  )

/** Types into a session and waits for the end of the turn that this leads to. */
export const typeInto = (world: World, runtimeSessionId: string, text: string) =>
  attached(
    world,
    AgentRuntime.use((runtime) =>
      runtime.prompt({ runtimeSessionId, directory: world.root, promptId: promptIds(Date.now(), text, 0), text })
    )
  )

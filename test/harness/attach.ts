/** A human who opens an agent's session in OpenCode itself, beside Reprise. */
import { join } from "node:path"
import { AgentRuntime, layerOpenCode, OpenCodeServer, promptIds } from "@reprise/agent"
import { Effect, Layer, Option, Schedule } from "effect"
import type { World } from "./World.ts"

/** Looks, since nobody tells, until there is something. */
export const waitUntil = <A, E, R>(look: Effect.Effect<A | undefined, E, R>): Effect.Effect<A, E, R> =>
  Effect.repeat(Effect.map(look, Option.fromNullishOr), {
    until: Option.isSome,
    schedule: Schedule.spaced("20 millis")
  }).pipe(Effect.flatMap((found) => (Option.isSome(found) ? Effect.succeed(found.value) : Effect.never)))

/** The port on the OpenCode that a world's Reprise runs now. Waits until it does. */
export const attached = <A, E, R>(world: World, effect: Effect.Effect<A, E, R>) =>
  Effect.scoped(
    Effect.gen(function* () {
      const state = join(world.root, ".reprise")
      const connection = yield* waitUntil(Effect.map(OpenCodeServer.find(state), Option.getOrUndefined))
      const server = OpenCodeServer.layerConnect(connection)
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

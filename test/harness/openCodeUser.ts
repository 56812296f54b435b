/** What a user can do to a session in OpenCode itself, while Reprise works with it. */
import { join } from "node:path"
import { AgentRuntime, layerOpenCode, type Message, OpenCodeServer, promptIds } from "@reprise/agent"
import { Effect, Layer, Option, Redacted } from "effect"
import type { World } from "./World.ts"
import { waitUntil } from "./waitUntil.ts"

/** The address of the world's OpenCode server. Waits until the server runs. */
const connectionOf = (world: World) =>
  world.openCode === undefined
    ? waitUntil(Effect.map(OpenCodeServer.find(join(world.root, ".reprise")), Option.getOrUndefined))
    : Effect.succeed({ ...world.openCode, password: Redacted.make(world.openCode.password) })

const request = Effect.fnUntraced(function* (world: World, path: string, init: Pick<RequestInit, "method" | "body">) {
  const { password, url, username } = yield* connectionOf(world)
  const authorization = `Basic ${Buffer.from(`${username}:${Redacted.value(password)}`).toString("base64")}`
  const headers = { authorization, "content-type": "application/json" }
  const answer = yield* Effect.promise(() =>
    fetch(`${url}${path}?directory=${encodeURIComponent(world.root)}`, { ...init, headers })
  )
  if (!answer.ok) return yield* Effect.die(new Error(`OpenCode refused ${init.method} ${path}: HTTP ${answer.status}`))
})

/** Deletes a session in OpenCode. */
export const deleteSession = (world: World, runtimeSessionId: string) =>
  request(world, `/session/${runtimeSessionId}`, { method: "DELETE" })

/** Runs an effect with an `AgentRuntime` that is connected to the world's OpenCode server. */
export const withAgentRuntime = <A, E, R>(world: World, effect: Effect.Effect<A, E, R>) =>
  Effect.scoped(
    Effect.gen(function* () {
      const server = OpenCodeServer.layerConnect(yield* connectionOf(world))
      const runtime = yield* Layer.build(layerOpenCode({ pollMs: 200 }).pipe(Layer.provide(server)))
      return yield* Effect.provideContext(effect, runtime)
    })
  )

/** Waits until the session's conversation holds these words. */
const untilSaid = (world: World, runtimeSessionId: string, text: string) =>
  withAgentRuntime(
    world,
    waitUntil(
      Effect.map(
        AgentRuntime.use((runtime) => runtime.history(runtimeSessionId)),
        (messages) => messages.some(({ content, role }) => role === "user" && holds(content, text)) || undefined
      )
    )
  )

const holds = (content: Message["content"], text: string): boolean =>
  content.some((block) => block.type === "text" && block.text === text)

/**
 * Sends a user's prompt to a session as OpenCode's own interface does: also while a turn runs, which then answers it.
 * Waits until the session holds it, since OpenCode says yes before it has taken it.
 */
export const sayInto = (world: World, runtimeSessionId: string, text: string) =>
  request(world, `/session/${runtimeSessionId}/prompt_async`, {
    method: "POST",
    body: JSON.stringify({ parts: [{ type: "text", text }] })
  }).pipe(Effect.andThen(untilSaid(world, runtimeSessionId, text)))

/** Sends a user's prompt to a session and waits until the turn ends. */
export const typeInto = (world: World, runtimeSessionId: string, text: string) =>
  withAgentRuntime(
    world,
    AgentRuntime.use((runtime) =>
      runtime.prompt({ runtimeSessionId, directory: world.root, promptId: promptIds(Date.now(), text, 0), text })
    )
  )

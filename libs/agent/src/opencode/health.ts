/** Whether an OpenCode server answers. A request that meets a server in its start can hang: each try has a second. */
import { Effect, Option, Schema } from "effect"
import { authorization, request } from "./http.ts"
import type { Connection } from "./OpenCodeEndpoint.ts"

const decodeHealth = Schema.decodeUnknownOption(Schema.Struct({ healthy: Schema.Boolean, version: Schema.String }))

/** The server's version; none when it does not answer, or not as OpenCode does. */
export const healthVersion = (connection: Connection, timeoutMs = 1000): Effect.Effect<Option.Option<string>> =>
  Effect.tryPromise(async (signal) => {
    const response = await request(`${connection.url}/global/health`, {
      headers: { authorization: authorization(connection) },
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
    })
    return response.ok ? decodeHealth(await response.json()) : Option.none()
  }).pipe(
    Effect.map((health) =>
      Option.map(
        Option.filter(health, (it) => it.healthy),
        ({ version }) => version
      )
    ),
    Effect.orElseSucceed(() => Option.none<string>())
  )

export const isHealthy = (connection: Connection, timeoutMs?: number): Effect.Effect<boolean> =>
  Effect.map(healthVersion(connection, timeoutMs), Option.isSome)

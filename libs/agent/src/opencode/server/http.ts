/**
 * HTTP to OpenCode. Node's own `fetch` gives up on an answer after five minutes (measured), but a turn is one request and
 * can take hours. So there is no time limit here; callers set their own.
 */
import type { OpencodeClient } from "@opencode-ai/sdk/v2/client"
import { Effect, Option, Redacted, Schema } from "effect"
import type { Connection } from "./OpenCodeEndpoint.ts"

export const authorization = ({ password, username }: Connection): string =>
  `Basic ${Buffer.from(`${username}:${Redacted.value(password)}`).toString("base64")}`

export interface RequestOptions {
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: string
  readonly signal?: AbortSignal
}

const load = async () => {
  const [{ Agent, fetch }, { createOpencodeClient }] = await Promise.all([
    import("undici"),
    import("@opencode-ai/sdk/v2/client")
  ])
  const patient = new Agent({ headersTimeout: 0, bodyTimeout: 0, connectTimeout: 5000 })
  /** OpenCode sends a heartbeat every ten seconds (measured), so an event stream that is silent for longer is dead. */
  const listening = new Agent({ headersTimeout: 30_000, bodyTimeout: 25_000, connectTimeout: 5000 })
  return { createOpencodeClient, fetch, patient, listening }
}

/** Loaded with the first request: most commands make none, and loading takes a tenth of their start-up time. */
let loading: ReturnType<typeof load> | undefined
const loaded = () => {
  loading ??= load()
  return loading
}

export const request = async (url: string, options: RequestOptions = {}): Promise<Response> => {
  const { fetch, listening, patient } = await loaded()
  return fetch(url, {
    ...options,
    dispatcher: new URL(url).pathname === "/global/event" ? listening : patient
  }) as unknown as Promise<Response>
}

/** `fetch` for the generated client, which passes a complete `Request`. */
const clientFetch = async (input: Request): Promise<Response> => {
  const body = await input.text()
  return request(input.url, {
    method: input.method,
    headers: Object.fromEntries(input.headers),
    ...(body === "" ? {} : { body }),
    signal: input.signal
  })
}

/** OpenCode's generated client for a server. */
export const clientFor = async (connection: Connection): Promise<OpencodeClient> => {
  const { createOpencodeClient } = await loaded()
  return createOpencodeClient({
    baseUrl: connection.url,
    headers: { authorization: authorization(connection) },
    fetch: (input) => clientFetch(new Request(input))
  })
}

const decodeHealth = Schema.decodeUnknownOption(Schema.Struct({ healthy: Schema.Boolean, version: Schema.String }))

/**
 * The server's version; none when nothing answers, or something else than OpenCode. A request to a server that is still
 * starting can hang, hence the short timeout.
 */
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

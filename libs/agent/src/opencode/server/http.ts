/**
 * HTTP to OpenCode. Node's own `fetch` gives up on an answer after five minutes (measured), but a turn is one request and
 * can take hours. So there is no time limit here; callers set their own.
 */
import type { OpencodeClient } from "@opencode-ai/sdk/v2/client"
import { strangerAt } from "@reprise/process"
import { Effect, Option, Redacted, Schema } from "effect"
import type { Connection } from "./OpenCodeEndpoint.ts"

export const authorization = ({ password, username }: Connection): string =>
  `Basic ${Buffer.from(`${username}:${Redacted.value(password)}`).toString("base64")}`

export interface RequestOptions extends Pick<Connection, "serverOf"> {
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: string
  readonly signal?: AbortSignal
}

const load = async () => {
  const [{ Agent, buildConnector, fetch }, { createOpencodeClient }] = await Promise.all([
    import("undici"),
    import("@opencode-ai/sdk/v2/client")
  ])
  const timeout = 5000
  const connectTo = buildConnector({ timeout })
  /** When OpenCode has ended, any user can listen at its port until we know. */
  const checked =
    (users: ReadonlyArray<number>): typeof connectTo =>
    (where, callback) =>
      connectTo(where, (...result) => {
        const stranger = result[1] === null ? undefined : strangerAt(Number(where.port), users)
        if (stranger === undefined) return callback(...result)
        result[1]?.destroy()
        callback(new Error(`a process of user ${stranger} listens on port ${where.port}, and is told nothing`), null)
      })
  const agents = (how: { readonly connectTimeout: number } | { readonly connect: typeof connectTo }) => ({
    patient: new Agent({ headersTimeout: 0, bodyTimeout: 0, ...how }),
    /** OpenCode sends a heartbeat every ten seconds (measured), so an event stream that is silent for longer is dead. */
    listening: new Agent({ headersTimeout: 30_000, bodyTimeout: 25_000, ...how })
  })
  const made = new Map<string, ReturnType<typeof agents>>()
  const agentsFor = (users: ReadonlyArray<number> | undefined) => {
    const key = users?.join() ?? ""
    const found =
      made.get(key) ?? agents(users === undefined ? { connectTimeout: timeout } : { connect: checked(users) })
    made.set(key, found)
    return found
  }
  return { createOpencodeClient, fetch, agentsFor }
}

/** Loaded with the first request: most commands make none, and loading takes a tenth of their start-up time. */
let loading: ReturnType<typeof load> | undefined
const loaded = () => {
  loading ??= load()
  return loading
}

export const request = async (url: string, { serverOf, ...options }: RequestOptions = {}): Promise<Response> => {
  const { agentsFor, fetch } = await loaded()
  const { listening, patient } = agentsFor(serverOf)
  return fetch(url, {
    ...options,
    dispatcher: new URL(url).pathname === "/global/event" ? listening : patient
  }) as unknown as Promise<Response>
}

/** `fetch` for the generated client, which passes a complete `Request`. */
const clientFetch = async (input: Request, { serverOf }: Connection): Promise<Response> => {
  const body = await input.text()
  return request(input.url, {
    method: input.method,
    headers: Object.fromEntries(input.headers),
    ...(body === "" ? {} : { body }),
    serverOf,
    signal: input.signal
  })
}

/** OpenCode's generated client for a server. */
export const clientFor = async (connection: Connection): Promise<OpencodeClient> => {
  const { createOpencodeClient } = await loaded()
  return createOpencodeClient({
    baseUrl: connection.url,
    headers: { authorization: authorization(connection) },
    fetch: (input) => clientFetch(new Request(input), connection)
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
      serverOf: connection.serverOf,
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

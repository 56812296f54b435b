/**
 * HTTP to OpenCode. Node's own `fetch` gives up on an answer after five minutes (measured), but a turn is one request and
 * can take hours. So there is no time limit here; callers set their own.
 */
import type { OpencodeClient } from "@opencode-ai/sdk/v2/client"
import { type OwnServer, watchPort } from "@reprise/process"
import { Effect, Option, Redacted, Schema } from "effect"
import type { Connection } from "./OpenCodeEndpoint.ts"

export const authorization = ({ password, username }: Connection): string =>
  `Basic ${Buffer.from(`${username}:${Redacted.value(password)}`).toString("base64")}`

export interface RequestOptions extends Pick<Connection, "ownServer"> {
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
    (server: OwnServer): typeof connectTo =>
    (where, callback) => {
      const strangerThere = watchPort(Number(where.port), server)
      connectTo(where, (...result) => {
        const stranger = result[1] === null ? undefined : strangerThere()
        if (stranger === undefined) return callback(...result)
        result[1]?.destroy()
        callback(new Error(`a process of user ${stranger} listens on port ${where.port}, and is told nothing`), null)
      })
    }
  const agents = (how: { readonly connectTimeout: number } | { readonly connect: typeof connectTo }) => ({
    patient: new Agent({ headersTimeout: 0, bodyTimeout: 0, ...how }),
    /** OpenCode sends a heartbeat every ten seconds (measured), so an event stream that is silent for longer is dead. */
    listening: new Agent({ headersTimeout: 30_000, bodyTimeout: 25_000, ...how })
  })
  const ofAnybody = agents({ connectTimeout: timeout })
  const ofOwn = new WeakMap<OwnServer, typeof ofAnybody>()
  const agentsFor = (server: OwnServer | undefined) => {
    if (server === undefined) return ofAnybody
    const found = ofOwn.get(server) ?? agents({ connect: checked(server) })
    ofOwn.set(server, found)
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

export const request = async (url: string, { ownServer, ...options }: RequestOptions = {}): Promise<Response> => {
  const { agentsFor, fetch } = await loaded()
  const { listening, patient } = agentsFor(ownServer)
  return fetch(url, {
    ...options,
    dispatcher: new URL(url).pathname === "/global/event" ? listening : patient
  }) as unknown as Promise<Response>
}

/** `fetch` for the generated client, which passes a complete `Request`. */
const clientFetch = async (input: Request, { ownServer }: Connection): Promise<Response> => {
  const body = await input.text()
  return request(input.url, {
    method: input.method,
    headers: Object.fromEntries(input.headers),
    ...(body === "" ? {} : { body }),
    ownServer,
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
      ownServer: connection.ownServer,
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

/**
 * HTTP without the five minutes after which node's own `fetch` gives up on an answer (measured): a turn is one request
 * and may take hours. Waiting is limited by who waits, not here.
 */
import { createOpencodeClient, type OpencodeClient } from "@opencode-ai/sdk/v2/client"
import { Redacted } from "effect"
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
  const { Agent, fetch } = await import("undici")
  const patient = new Agent({ headersTimeout: 0, bodyTimeout: 0, connectTimeout: 5000 })
  /** OpenCode sends a heartbeat every ten seconds (measured): an event stream that is silent for longer is dead. */
  const listening = new Agent({ headersTimeout: 30_000, bodyTimeout: 25_000, connectTimeout: 5000 })
  return { fetch, patient, listening }
}

/** With the first request: most commands make none, and loading it is a tenth of their start. */
let loaded: ReturnType<typeof load> | undefined

export const request = async (url: string, options: RequestOptions = {}): Promise<Response> => {
  loaded ??= load()
  const { fetch, listening, patient } = await loaded
  return fetch(url, {
    ...options,
    dispatcher: new URL(url).pathname === "/global/event" ? listening : patient
  }) as unknown as Promise<Response>
}

/** `fetch` for the generated client, which hands over a finished `Request`. */
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
export const clientFor = (connection: Connection): OpencodeClient =>
  createOpencodeClient({
    baseUrl: connection.url,
    headers: { authorization: authorization(connection) },
    fetch: (input) => clientFetch(new Request(input))
  })

/** Asks the gate's HTTP side, and reads what it answers by the schemas of the protocol. */
import { ApiError, ConsoleSession, ConsoleSignedIn } from "@reprise/protocol"
import { Schema } from "effect"
import { keepSession, sessionHeaders } from "./session.ts"

/** A request that was not answered with data. `status` 0: nobody answered. */
export class ApiFailure extends Error {
  readonly status: number
  readonly code: string
  readonly hint: string
  constructor(status: number, { code, hint, message }: ApiError) {
    super(message)
    this.status = status
    this.code = code
    this.hint = hint
  }
}

const unreachable: ApiError = {
  code: "unreachable",
  message: "Reprise does not answer.",
  hint: "Is 'reprise up --web' still running? This page connects again by itself."
}
const strange: ApiError = {
  code: "bad-reply",
  message: "Reprise's answer cannot be read.",
  hint: "Reload the page: it may belong to another version."
}

const Reply = Schema.Union([
  Schema.Struct({ ok: Schema.Literal(true), data: Schema.Unknown }),
  Schema.Struct({ ok: Schema.Literal(false), error: ApiError })
])
const readReply = Schema.decodeUnknownSync(Reply)

const request = async (
  method: string,
  path: string,
  body: object | undefined,
  keepalive: boolean
): Promise<Response> => {
  try {
    return await fetch(`/api/${path}`, {
      method,
      keepalive,
      headers: { ...sessionHeaders(), ...(body === undefined ? {} : { "content-type": "application/json" }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
  } catch {
    throw new ApiFailure(0, unreachable)
  }
}

const dataOf = async (response: Response): Promise<unknown> => {
  const reply = await response.json().then(readReply, () => undefined)
  if (reply === undefined) throw new ApiFailure(response.status, strange)
  if (!reply.ok) throw new ApiFailure(response.status, reply.error)
  return reply.data
}

const decoded = <A>(decode: (data: unknown) => A, status: number, data: unknown): A => {
  try {
    return decode(data)
  } catch {
    throw new ApiFailure(status, strange)
  }
}

/** A function that reads the data at a path. */
export const reading = <A>(schema: Schema.Codec<A, unknown>) => {
  const decode = Schema.decodeUnknownSync(schema)
  return async (path: string): Promise<A> => {
    const response = await request("GET", path, undefined, false)
    return decoded(decode, response.status, await dataOf(response))
  }
}

/** A function that sends a body and reads the reply. `keepalive`: it is sent even if the page is closed meanwhile. */
export const sending = <A>(schema: Schema.Codec<A, unknown>) => {
  const decode = Schema.decodeUnknownSync(schema)
  return async (path: string, body: object, keepalive = false): Promise<A> => {
    const response = await request("POST", path, body, keepalive)
    return decoded(decode, response.status, await dataOf(response))
  }
}

const readSession = reading(ConsoleSession)

/** Who is signed in; undefined: nobody. */
export const currentSession = async (): Promise<ConsoleSession | undefined> => {
  try {
    return await readSession("session")
  } catch (error) {
    if (error instanceof ApiFailure && error.status === 401) return undefined
    throw error
  }
}

const exchange = sending(ConsoleSignedIn)

/** Exchanges the token for a session of this browser. */
export const signIn = async (token: string): Promise<ConsoleSession> => {
  const { session } = await exchange("session", { token })
  keepSession(session)
  return readSession("session")
}

export const signOut = async (): Promise<void> => {
  await request("DELETE", "session", undefined, false)
  keepSession(undefined)
}

/** An id of a command: sent twice, it is done once. */
export const newCommandId = (): string => crypto.randomUUID()

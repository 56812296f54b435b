/** Calls to OpenCode's HTTP interface through its generated client. */
import type { OpencodeClient } from "@opencode-ai/sdk/v2/client"
import { Effect, Schedule, Schema } from "effect"
import { AgentError } from "../../AgentError.ts"
import { clientFor } from "./http.ts"
import type { Connection } from "./OpenCodeEndpoint.ts"
import type { OpenCodeServerShape } from "./OpenCodeServer.ts"

/** No answer: the server is down, restarting, or too slow. */
export class Unreachable extends Schema.TaggedError<Unreachable>()("Unreachable", {
  operation: Schema.String,
  reason: Schema.String,
  /** Trying again is useless: the server cannot be started. */
  final: Schema.Boolean
}) {
  override get message() {
    return `OpenCode did not answer (${this.operation}: ${this.reason})`
  }
}

/** An answer with an error status. */
export class Refused extends Schema.TaggedError<Refused>()("Refused", {
  operation: Schema.String,
  status: Schema.Int,
  detail: Schema.String
}) {
  override get message() {
    return `OpenCode refused (${this.operation}, HTTP ${this.status}): ${this.detail}`
  }
}

interface Answer<A> {
  readonly data?: A | undefined
  readonly error?: unknown
  readonly response?: Response | undefined
}

export interface CallOptions {
  /** 0: no limit. Default 60 s: the first call for a directory makes OpenCode load its configuration and plugins. */
  readonly timeoutMs?: number
}

type ClientCall<A> = (client: OpencodeClient, signal: AbortSignal) => Promise<Answer<A>>

export interface Calls {
  /** One try. */
  readonly once: <A>(
    operation: string,
    run: ClientCall<A>,
    options?: CallOptions
  ) => Effect.Effect<A, Unreachable | Refused>
  /** Retries while the server cannot be reached, and fails as `gone` when the grace is over. */
  readonly reaching: <A>(
    operation: string,
    run: ClientCall<A>,
    options?: CallOptions
  ) => Effect.Effect<A, Refused | AgentError>
}

const ErrorBody = Schema.Union([
  Schema.Struct({ data: Schema.Struct({ message: Schema.String }) }),
  Schema.Struct({ message: Schema.String })
])
const isErrorBody = Schema.is(ErrorBody)

const detailOf = (error: unknown): string => {
  if (isErrorBody(error)) return "data" in error ? error.data.message : error.message
  return typeof error === "string" ? error.slice(0, 500) : JSON.stringify(error ?? null).slice(0, 500)
}

const reasonOf = (cause: unknown): string => {
  if (!(cause instanceof Error)) return String(cause)
  return cause.cause instanceof Error ? `${cause.message}: ${cause.cause.message}` : cause.message
}

const answered = <A>(operation: string, answer: Answer<A>): Effect.Effect<A, Unreachable | Refused> => {
  const { data, error, response } = answer
  if (response === undefined) return Effect.fail(new Unreachable({ operation, reason: reasonOf(error), final: false }))
  if (response.ok && data !== undefined) return Effect.succeed(data)
  return Effect.fail(new Refused({ operation, status: response.status, detail: detailOf(error) }))
}

/** The runtime has been unreachable for longer than the grace. */
export const runtimeGone = (operation: string, why: string, graceMs: number): AgentError =>
  new AgentError({
    kind: "gone",
    operation,
    detail: `OpenCode has been away for ${Math.round(graceMs / 1000)} s (${why}). The session is kept: continue when OpenCode runs again ('reprise doctor').`,
    sessionUsable: true
  })

const cannotStart = (operation: string, why: string): AgentError =>
  new AgentError({ kind: "gone", operation, detail: why, sessionUsable: true })

/** The server may restart on another port between two calls. */
export const makeCalls = (server: OpenCodeServerShape, graceMs: number): Calls => {
  let current: { readonly connection: Connection; readonly client: Promise<OpencodeClient> } | undefined
  const client = Effect.flatMap(server.connection, (connection) => {
    if (current?.connection !== connection) current = { connection, client: clientFor(connection) }
    const { client: made } = current
    return Effect.promise(() => made)
  })

  const once = <A>(operation: string, run: ClientCall<A>, options: CallOptions = {}) => {
    const timeoutMs = options.timeoutMs ?? 60_000
    const unreachable = (reason: string) => new Unreachable({ operation, reason, final: false })
    const attempt = client.pipe(
      Effect.mapError((cause) => new Unreachable({ operation, reason: cause.message, final: true })),
      Effect.flatMap((it) =>
        Effect.tryPromise({ try: (signal) => run(it, signal), catch: (cause) => unreachable(reasonOf(cause)) })
      ),
      Effect.flatMap((answer) => answered(operation, answer))
    )
    if (timeoutMs === 0) return attempt
    return attempt.pipe(
      Effect.timeoutOrElse({
        duration: `${timeoutMs} millis`,
        orElse: () => Effect.fail(unreachable(`no answer in ${timeoutMs} ms`))
      })
    )
  }

  const reaching = <A>(operation: string, run: ClientCall<A>, options?: CallOptions) =>
    once(operation, run, options).pipe(
      Effect.retry({
        while: (error) => error._tag === "Unreachable" && !error.final,
        schedule: Schedule.spaced(`${Math.min(250, graceMs / 4)} millis`).pipe(
          Schedule.upTo({ duration: `${graceMs} millis` })
        )
      }),
      Effect.catchTag("Unreachable", ({ final, reason }) =>
        Effect.fail(final ? cannotStart(operation, reason) : runtimeGone(operation, reason, graceMs))
      )
    )

  return { once, reaching }
}

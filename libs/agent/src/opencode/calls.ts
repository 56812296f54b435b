/** One way to call OpenCode's HTTP interface through its generated client. */
import type { OpencodeClient } from "@opencode-ai/sdk/v2/client"
import { Clock, Effect, Schema } from "effect"
import { AgentError } from "../AgentError.ts"
import { clientFor } from "./http.ts"
import type { Connection } from "./OpenCodeEndpoint.ts"
import type { OpenCodeServerShape } from "./OpenCodeServer.ts"

/** No answer: the server is down, restarting, or too busy to answer in time. */
export class Unreachable extends Schema.TaggedError<Unreachable>()("Unreachable", {
  operation: Schema.String,
  reason: Schema.String,
  /** Waiting does not help: the server cannot be started. */
  final: Schema.Boolean
}) {
  override get message() {
    return `OpenCode did not answer (${this.operation}: ${this.reason})`
  }
}

/** An answer that is no success. */
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
  /** 0: for ever. Default 30 s: the first call for a directory makes OpenCode load its configuration and plugins. */
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
  /** Again and again while the server cannot be reached, until the grace is over: then it fails as `runtime_gone`. */
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

/** The runtime has been away for longer than the grace. */
export const runtimeGone = (operation: string, why: string, graceMs: number): AgentError =>
  new AgentError({
    kind: "runtime_gone",
    operation,
    detail: `OpenCode has been away for ${Math.round(graceMs / 1000)} s (${why}). The session is kept: continue when OpenCode runs again ('reprise doctor').`,
    sessionUsable: true
  })

const cannotStart = (operation: string, why: string): AgentError =>
  new AgentError({ kind: "runtime_gone", operation, detail: why, sessionUsable: true })

/** Calls to a server that may restart, on another port, between two of them. */
export const makeCalls = (server: OpenCodeServerShape, graceMs: number): Calls => {
  let current: { readonly connection: Connection; readonly client: OpencodeClient } | undefined
  const client = Effect.map(server.connection, (connection) => {
    if (current?.connection !== connection) current = { connection, client: clientFor(connection) }
    return current.client
  })

  const once = <A>(operation: string, run: ClientCall<A>, options: CallOptions = {}) => {
    const timeoutMs = options.timeoutMs ?? 30_000
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

  const reaching = Effect.fnUntraced(function* <A>(operation: string, run: ClientCall<A>, options?: CallOptions) {
    let awaySince: number | undefined
    for (;;) {
      const outcome = yield* Effect.result(once(operation, run, options))
      if (outcome._tag === "Success") return outcome.success
      if (outcome.failure._tag === "Refused") return yield* outcome.failure
      if (outcome.failure.final) return yield* cannotStart(operation, outcome.failure.reason)
      const now = yield* Clock.currentTimeMillis
      awaySince ??= now
      if (now - awaySince >= graceMs) return yield* runtimeGone(operation, outcome.failure.reason, graceMs)
      yield* Effect.sleep(`${Math.min(250, graceMs / 4)} millis`)
    }
  })

  return { once, reaching }
}

/** Calls to OpenCode's HTTP interface through its generated client. */
import type { OpencodeClient } from "@opencode-ai/sdk/v2/client"
import { Effect, Schema } from "effect"
import { AgentError } from "../../AgentError.ts"
import { steadyMs } from "../../steadyMs.ts"
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
  /** Retries while the server cannot be reached, and fails as `gone` when it takes too long. */
  readonly reaching: <A>(
    operation: string,
    run: ClientCall<A>,
    options?: CallOptions
  ) => Effect.Effect<A, Refused | AgentError>
  /** Starts to follow whether the server answers an operation. */
  readonly listening: (operation: string) => Effect.Effect<Listening>
}

export interface Listening {
  readonly answered: Effect.Effect<void>
  /** Fails as `gone` when the server has been away, or has left calls unanswered, for too long. */
  readonly unanswered: (reason: string) => Effect.Effect<undefined, AgentError>
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

const gone = (operation: string, detail: string): AgentError =>
  new AgentError({ kind: "gone", operation, detail, sessionUsable: true })

const secondsOf = (ms: number): number => Math.round(ms / 1000)

/**
 * How long a server may leave a call unanswered while it answers about its health, in graces. With twenty runs on two
 * cores OpenCode left questions about sessions unanswered for longer than one (measured).
 */
const slowGraces = 10

/** When the server last answered, and when it last was alive: it answered, be it only about its health. Steady clock. */
export interface Heard {
  readonly answeredAt: number
  readonly aliveAt: number
}

/** Why waiting for an answer is over; undefined: it is not. */
export const judgeSilence = ({ aliveAt, answeredAt }: Heard, now: number, graceMs: number): string | undefined => {
  if (now - aliveAt >= graceMs) return `OpenCode has been away for ${secondsOf(graceMs)} s`
  const longestMs = slowGraces * graceMs
  return now - answeredAt >= longestMs ? `OpenCode runs, but has not answered for ${secondsOf(longestMs)} s` : undefined
}

/** The server may restart on another port between two calls. */
export const makeCalls = (server: OpenCodeServerShape, graceMs: number): Calls => {
  const pauseMs = Math.min(250, graceMs / 4)
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

  const listening = Effect.fnUntraced(function* (operation: string) {
    const now = yield* steadyMs
    let heard: Heard = { answeredAt: now, aliveAt: now }
    return {
      answered: Effect.map(steadyMs, (at) => {
        heard = { answeredAt: at, aliveAt: at }
      }),
      unanswered: Effect.fnUntraced(function* (reason: string) {
        const isAlive = yield* server.isAlive
        const at = yield* steadyMs
        if (isAlive) heard = { ...heard, aliveAt: at }
        const why = judgeSilence(heard, at, graceMs)
        if (why === undefined) return undefined
        const next = "The session is kept: continue when OpenCode answers again ('reprise doctor')."
        return yield* gone(operation, `${why} (${reason}). ${next}`)
      })
    }
  })

  const reaching = Effect.fnUntraced(function* <A>(operation: string, run: ClientCall<A>, options?: CallOptions) {
    const { unanswered } = yield* listening(operation)
    const attempt: Effect.Effect<A, Refused | AgentError> = Effect.catchTag(
      once(operation, run, options),
      "Unreachable",
      ({ final, reason }) =>
        (final ? gone(operation, reason) : unanswered(reason)).pipe(
          Effect.andThen(Effect.sleep(`${pauseMs} millis`)),
          Effect.andThen(attempt)
        )
    )
    return yield* attempt
  })

  return { once, reaching, listening }
}

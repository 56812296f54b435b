/** Replies of the console's HTTP side. */
import { type NoAnswer, QueryFailed, Refused } from "@reprise/actor"
import type { ApiError, ConsoleOutcome } from "@reprise/protocol"
import { Cause, Context, Effect, Schema } from "effect"
import { HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { NotPossible, Unavailable } from "./ConsoleSources.ts"

export const data = (value: unknown) => HttpServerResponse.jsonUnsafe({ ok: true, data: value })

/** A list whose entries are JSON already, each encoded at a time of its own. */
export const dataOfTexts = (texts: ReadonlyArray<string>) =>
  HttpServerResponse.text(`{"ok":true,"data":[${texts.join(",")}]}`, { contentType: "application/json" })

const failed = ({ code, hint, message }: ApiError) => ({ ok: false, error: { code, message, hint } })

export const failure = (status: number, error: ApiError) => HttpServerResponse.jsonUnsafe(failed(error), { status })

/** The same as text, for what is answered without the router. */
export const failureBody = (error: ApiError): string => JSON.stringify(failed(error))

const unreadable = failure(400, {
  code: "unreadable",
  message: "The request cannot be read.",
  hint: "Reload the page: it may belong to another version."
})

const tooLarge = failure(413, {
  code: "too-large",
  message: "The request is larger than the console takes.",
  hint: "Shorten the text, or put it into a file of the repository and name that."
})

export const nothingThere = failure(404, {
  code: "not-found",
  message: "There is no such data.",
  hint: "Reload the page."
})

/** Another answer won, or the command does not fit the state: the reason names who and what. */
const refused = ({ code, reason }: Refused) =>
  failure(409, { code, message: reason, hint: "Reload to see the present state." })

const isMissing = (code: string) => code === "not-found"

const broken = failure(500, {
  code: "broken",
  message: "The console could not do that.",
  hint: "The log has the reason: .reprise/logs/reprise.log. 'reprise doctor' checks the rest."
})

/** Bytes that are not text. */
class NotUtf8 extends Schema.TaggedError<NotUtf8>()("NotUtf8", { cause: Schema.Defect() }) {
  override get message() {
    return "The body is not encoded as UTF-8."
  }
}

/** By the length that it announces: nothing of it is read. */
class TooLarge extends Schema.TaggedError<TooLarge>()("TooLarge", { bytes: Schema.Finite }) {
  override get message() {
    return `A body of ${this.bytes} bytes is too large.`
  }
}

/** The connection or the client's own bytes; undefined: the console's own mistake. */
const replyToMistake = ({ reason }: HttpServerError.HttpServerError) => {
  if (reason._tag === "RouteNotFound") return nothingThere
  if (reason._tag !== "RequestParseError") return undefined
  return reason.reason === "BodyTooLarge" ? tooLarge : unreadable
}

const replyTo = (error: unknown) => {
  if (error instanceof Refused) return refused(error)
  if (error instanceof QueryFailed || error instanceof Unavailable) {
    return failure(isMissing(error.code) ? 404 : 503, error)
  }
  if (error instanceof NotPossible) return failure(422, error)
  if (error instanceof TooLarge) return tooLarge
  if (error instanceof Schema.SchemaError || error instanceof NotUtf8) return unreadable
  return error instanceof HttpServerError.HttpServerError ? replyToMistake(error) : undefined
}

/** Turns every failure into a reply; what nobody expects is logged. */
export const orFailure = <E, R>(reply: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
  Effect.catchCause(reply, (cause) => {
    if (Cause.hasInterruptsOnly(cause)) return Effect.interrupt
    const reply = replyTo(Cause.squash(cause))
    return reply === undefined ? Effect.as(Effect.logError("the console failed", cause), broken) : Effect.succeed(reply)
  })

const utf8 = new TextDecoder("utf-8", { fatal: true })

/** The body of the request that is being answered, which has come as a whole. */
export const Content = Context.Reference<ArrayBuffer>("@reprise/gate/Content", {
  defaultValue: () => new ArrayBuffer(0)
})

/** Waits for the whole body of a request. One that is too large is not read. */
export const content = Effect.gen(function* () {
  const request = yield* HttpServerRequest.HttpServerRequest
  const announced = Number(request.headers["content-length"] ?? 0)
  const most = yield* HttpServerRequest.MaxBodySize
  if (most !== undefined && announced > Number(most)) return yield* new TooLarge({ bytes: announced })
  return yield* request.arrayBuffer
})

/** The JSON of a request, by its schema. Anything else cannot be read. */
export const bodyOf = <A>(schema: Schema.Codec<A, unknown>) => {
  const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(schema))
  return Effect.gen(function* () {
    const bytes = yield* Content
    return yield* decode(yield* Effect.try({ try: () => utf8.decode(bytes), catch: (cause) => new NotUtf8({ cause }) }))
  })
}

/** The outcome of a command. One that nobody confirmed in time is stored, and will be done. */
export const outcomeOf = <A, E, R>(asked: Effect.Effect<A, E | NoAnswer, R>) =>
  asked.pipe(
    Effect.as<ConsoleOutcome>({ state: "done" }),
    Effect.catchTag("NoAnswer", () => Effect.succeed<ConsoleOutcome>({ state: "pending" })),
    Effect.map(data)
  )

/** Replies of the console's HTTP side. */
import { type NoAnswer, QueryFailed, Refused } from "@reprise/actor"
import type { ApiError, ConsoleOutcome } from "@reprise/protocol"
import { Effect, Schema } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { NotPossible, Unavailable } from "./ConsoleSources.ts"

export const data = (value: unknown) => HttpServerResponse.jsonUnsafe({ ok: true, data: value })

export const failure = (status: number, { code, hint, message }: ApiError) =>
  HttpServerResponse.jsonUnsafe({ ok: false, error: { code, message, hint } }, { status })

const unreadable = failure(400, {
  code: "unreadable",
  message: "The request cannot be read.",
  hint: "Reload the page: it may be of another version."
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

/** Turns every failure into a reply; what nobody expects is logged. */
export const orFailure = <E, R>(reply: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
  Effect.catch(reply, (error: E) => {
    if (error instanceof Refused) return Effect.succeed(refused(error))
    if (error instanceof QueryFailed || error instanceof Unavailable) {
      return Effect.succeed(failure(isMissing(error.code) ? 404 : 503, error))
    }
    if (error instanceof NotPossible) return Effect.succeed(failure(422, error))
    if (error instanceof Schema.SchemaError) return Effect.succeed(unreadable)
    return Effect.as(Effect.logError("the console failed", error), broken)
  })

/** The JSON of a request, by its schema. Anything else cannot be read. */
export const bodyOf = <A>(schema: Schema.Codec<A, unknown>) => {
  const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(schema))
  return Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    return yield* decode(yield* request.text)
  })
}

/** The outcome of a command. One that nobody confirmed in time is stored, and will be done. */
export const outcomeOf = <A, E, R>(asked: Effect.Effect<A, E | NoAnswer, R>) =>
  asked.pipe(
    Effect.as<ConsoleOutcome>({ state: "done" }),
    Effect.catchTag("NoAnswer", () => Effect.succeed<ConsoleOutcome>({ state: "pending" })),
    Effect.map(data)
  )

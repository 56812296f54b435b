/** From a request to its answer: the router reads where it leads, and all else follows from the route that it finds. */
import type { Socket } from "node:net"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { ByteSize, Clock, Effect, Option, Redacted, Result } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { accessToNothing, admit } from "../../console/admission.ts"
import { headersOf } from "../../console/headers.ts"
import { type Limits, largestBody } from "../../console/limits.ts"
import { type ProxyRules, proxySecretHeader, type Visitor, visitorOfProxy } from "../../console/visitor.ts"
import { isSame } from "../signing.ts"
import { type Client, clientOf, makeClients } from "./Clients.ts"
import { type Match, Matched, type makeRouteTable } from "./Route.ts"
import { failure, nothingThere, orFailure } from "./replies.ts"
import { Visiting } from "./Visiting.ts"

export interface TrustedProxy extends ProxyRules {
  /** Which the proxy sends along; absent: whatever reaches the console's address is the proxy. */
  readonly secret?: Redacted.Redacted
}

export interface Answering<R> {
  readonly find: ReturnType<typeof makeRouteTable<R>>
  readonly origins: ReadonlyArray<string>
  readonly proxy: TrustedProxy | undefined
  /** Others than this machine reach the console. */
  readonly isOpen: boolean
  /** By the header with the cookies. */
  readonly visitorOf: (cookies: string | undefined) => Effect.Effect<Visitor | undefined>
  readonly limits: Limits
  readonly keep: (socket: Socket) => void
}

const notThroughProxy = failure(403, {
  code: "not-through-the-proxy",
  message: "The console takes only what comes through its proxy.",
  hint: `The proxy must send its secret in the header ${proxySecretHeader}.`
})

const refusal = (code: string, message: string, hint: string, afterMs: number) =>
  HttpServerResponse.setHeader(
    failure(429, { code, message, hint }),
    "retry-after",
    `${Math.max(1, Math.ceil(afterMs / 1000))}`
  )

const tooManyRequests = (afterMs: number) =>
  refusal("too-many-requests", "There are too many requests from you.", "Wait a moment, then try again.", afterMs)

const tooManyStreams = refusal(
  "too-many-streams",
  "You have too many event streams open.",
  "Close other pages or programs that follow Reprise, then try again.",
  5_000
)

export const makeAnswer = <R>({ find, isOpen, keep, limits, origins, proxy, visitorOf }: Answering<R>) => {
  const clients = makeClients(limits)

  const isProxied = (headers: Readonly<Record<string, string | undefined>>): boolean =>
    proxy !== undefined &&
    (proxy.secret === undefined || isSame(headers[proxySecretHeader] ?? "", Redacted.value(proxy.secret)))

  /** Late, so that to ask again at once brings nothing. */
  const refuse = (response: HttpServerResponse.HttpServerResponse) =>
    Effect.as(Effect.sleep(limits.refusalAfterMs), response)

  const replyOf = Effect.fnUntraced(function* (match: Match<R>, client: Client) {
    const { address, route } = match
    if (route.isStream === true) {
      const close = clients.openStream(client)
      if (close === undefined) return yield* refuse(tooManyStreams)
      const request = yield* HttpServerRequest.HttpServerRequest
      NodeHttpServerRequest.toServerResponse(request).once("close", close)
    }
    const most = route.access === "own proof" ? largestBody.ownProof : largestBody.signedIn
    return yield* orFailure(route.reply).pipe(
      Effect.provideService(Matched, address),
      Effect.provideService(HttpServerRequest.MaxBodySize, ByteSize.bytes(most))
    )
  })

  return Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const { headers, method, url } = request
    const { socket } = NodeHttpServerRequest.toIncomingMessage(request)
    // Node has no socket for an answer while another one is under way, and would not say that its client has gone.
    if (NodeHttpServerRequest.toServerResponse(request).socket === null) {
      socket.destroy()
      return tooManyRequests(limits.refusalAfterMs)
    }
    const match = find(method, url)
    const throughProxy = isProxied(headers)
    const visitor =
      (throughProxy && proxy !== undefined ? visitorOfProxy(proxy, headers) : undefined) ??
      (yield* visitorOf(headers["cookie"]))
    if (visitor !== undefined) keep(socket)

    const answer = Effect.gen(function* () {
      const client = clientOf(
        visitor,
        Option.getOrElse(request.remoteAddress, () => "")
      )
      const turn = clients.turn(client, yield* Clock.currentTimeMillis)
      if (turn._tag === "Refused") return yield* refuse(tooManyRequests(turn.retryAfterMs))
      if (turn.afterMs > 0) yield* Effect.sleep(turn.afterMs)
      if (isOpen && !throughProxy) return notThroughProxy
      const admitted = admit(
        {
          access: match?.route.access ?? accessToNothing,
          method,
          host: headers["host"],
          origin: headers["origin"],
          fetchSite: headers["sec-fetch-site"],
          contentType: headers["content-type"],
          ...(visitor === undefined ? {} : { role: visitor.role })
        },
        origins
      )
      if (Result.isFailure(admitted)) return failure(admitted.failure.status, admitted.failure)
      if (match === undefined) return nothingThere
      return yield* Effect.provideService(replyOf(match, client), Visiting, visitor)
    })
    // Whoever leaves is not answered to the end.
    const response = yield* Effect.interruptible(answer)
    return HttpServerResponse.setHeaders(response, headersOf(match?.route.keeping ?? "never", response.status))
  })
}

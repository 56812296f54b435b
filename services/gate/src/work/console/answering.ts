/** From a request to its answer: the router reads where it leads, and all else follows from the route that it finds. */
import { isIP, type Socket } from "node:net"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { consoleSessionHeader } from "@reprise/protocol"
import { ByteSize, Clock, Effect, Redacted, Result } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { accessToNothing, admit } from "../../console/admission.ts"
import { headersOf } from "../../console/headers.ts"
import { type Limits, largestBody } from "../../console/limits.ts"
import { type ProxyRules, proxySecretHeader, type Visitor, visitorOfProxy } from "../../console/visitor.ts"
import { isSame } from "../signing.ts"
import { type Client, clientOf, makeClients } from "./Clients.ts"
import type { Connections } from "./Connections.ts"
import { type Match, Matched, type makeRouteTable } from "./Route.ts"
import { Content, content, failure, nothingThere, orFailure } from "./replies.ts"
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
  /** By the header with the session. */
  readonly visitorOf: (session: string | undefined) => Effect.Effect<Visitor | undefined>
  readonly limits: Limits
  readonly connections: Connections
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

type Headers = Readonly<Record<string, string | undefined>>

/** Whom the proxy has seen: a server adds the address that it saw as the last one. What stands before anybody may have sent. */
const addressBehind = (headers: Headers): string | undefined => {
  const last = (headers["x-forwarded-for"] ?? "").split(",").at(-1)?.trim() ?? ""
  return isIP(last) === 0 ? undefined : last
}

export const makeAnswer = <R>(answering: Answering<R>) => {
  const { connections, find, isOpen, limits, origins, proxy, visitorOf } = answering
  const clients = makeClients(limits)

  const isProxied = (headers: Headers): boolean =>
    proxy !== undefined &&
    (proxy.secret === undefined || isSame(headers[proxySecretHeader] ?? "", Redacted.value(proxy.secret)))

  /** Late, so that to ask again at once brings nothing. */
  const refuse = (response: HttpServerResponse.HttpServerResponse) =>
    Effect.as(Effect.sleep(limits.refusalAfterMs), response)

  /** Until the answer is over, or the client has gone. */
  const beginAnswer = (
    client: Client,
    socket: Socket,
    response: ReturnType<typeof NodeHttpServerRequest.toServerResponse>
  ) => {
    const place = clients.begin(client)
    const tooSlow = setTimeout(() => socket.destroy(), limits.patience.answerMs).unref()
    response.once("close", () => {
      clearTimeout(tooSlow)
      place.leave()
    })
    return place.taken
  }

  /** Takes a place for the answer, and gives the answer. */
  const replyInPlace = Effect.fnUntraced(function* ({ route }: Match<R>, client: Client, socket: Socket) {
    const response = NodeHttpServerRequest.toServerResponse(yield* HttpServerRequest.HttpServerRequest)
    if (route.isStream === true) {
      const close = clients.openStream(client)
      if (close === undefined) return yield* refuse(tooManyStreams)
      response.once("close", close)
      // Who has signed out hears no more, by whatever page or program.
      const stop = (yield* Visiting)?.onEnd?.(() => socket.destroy())
      if (stop !== undefined) response.once("close", stop)
    } else yield* beginAnswer(client, socket, response)
    connections.setUnderWay(socket, true)
    response.once("close", () => connections.setUnderWay(socket, false))
    if (route.readsMuch !== true) return yield* route.reply
    const sent = new Promise<void>((resolve) => {
      response.once("close", resolve)
      if (socket.destroyed) resolve()
    })
    return yield* clients.readMuch(
      client,
      route.path,
      route.reply,
      Effect.promise(() => sent)
    )
  })

  const replyOf = (match: Match<R>, client: Client, socket: Socket) => {
    const { access, method } = match.route
    const most = access === "own proof" ? largestBody.ownProof : largestBody.signedIn
    const reply = replyInPlace(match, client, socket)
    // Whoever sends a body slowly has no place meanwhile.
    return orFailure(
      method === "POST" ? Effect.flatMap(content, (bytes) => Effect.provideService(reply, Content, bytes)) : reply
    ).pipe(
      Effect.provideService(Matched, match.address),
      Effect.provideService(HttpServerRequest.MaxBodySize, ByteSize.bytes(most))
    )
  }

  return Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const { headers, method, url } = request
    const { socket } = NodeHttpServerRequest.toIncomingMessage(request)
    const match = find(method, url)
    const throughProxy = isProxied(headers)
    const visitor =
      (throughProxy && proxy !== undefined ? visitorOfProxy(proxy, headers) : undefined) ??
      (yield* visitorOf(headers[consoleSessionHeader]))
    // Without a secret anybody here could send the header.
    const isProxys = throughProxy && proxy?.secret !== undefined
    const address = (isProxys ? addressBehind(headers) : undefined) ?? socket.remoteAddress ?? ""
    const client = clientOf(visitor, address)
    connections.use(socket, client)

    const answer = Effect.gen(function* () {
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
      return yield* Effect.provideService(replyOf(match, client, socket), Visiting, visitor)
    })
    // Whoever leaves is not answered to the end.
    const response = yield* Effect.interruptible(answer)
    return HttpServerResponse.setHeaders(response, headersOf(match?.route.keeping ?? "never", response.status))
  })
}

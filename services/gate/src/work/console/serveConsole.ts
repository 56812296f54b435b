/**
 * The HTTP side of the gate: the web console's pages, data and commands (docs/console.md). Compose it with `Messenger`, `Broker`, `ActorConfig` and `ConsoleSources`.
 */
import { createServer } from "node:http"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { ByteSize, Effect, Layer, Redacted, Result, Schema } from "effect"
import { HttpMiddleware, HttpRouter, HttpServerRequest, HttpServerResponse, HttpStaticServer } from "effect/http"
import { admit, originsOf } from "../../console/admission.ts"
import { cacheControl, securityHeaders } from "../../console/headers.ts"
import { isLoopback, listenProblem, type ProxyRules, proxySecretHeader, visitorOfProxy } from "../../console/visitor.ts"
import type { PushBrowsers } from "../notify/PushBrowsers.ts"
import { isSame } from "../signing.ts"
import { commandRoutes } from "./commandRoutes.ts"
import { eventRoutes } from "./eventRoutes.ts"
import { linkRoutes } from "./linkRoutes.ts"
import { pushRoutes } from "./pushRoutes.ts"
import { failure } from "./replies.ts"
import { makeSignIn } from "./signIn.ts"
import { Visiting } from "./Visiting.ts"
import { viewRoutes } from "./viewRoutes.ts"

export { listenProblem } from "../../console/visitor.ts"
export { readSecret } from "../secrets.ts"
export { ConsoleSources, NotPossible, type RepositorySources, Unavailable } from "./ConsoleSources.ts"

export interface ConsoleOptions {
  /** 0: any free one. */
  readonly port: number
  /** The address of a proxy in front, such as `https://reprise.example.org`. */
  readonly origin?: string
  /** Of answerers; absent: only a proxy signs in. */
  readonly token?: Redacted.Redacted
  /** Of viewers; absent: there are none. */
  readonly viewerToken?: Redacted.Redacted
  /** The address to listen on. Default: this machine alone, 127.0.0.1. */
  readonly listen?: string
  /** A proxy that signs people in; absent: nobody is believed to be one. */
  readonly proxy?: TrustedProxy
  /** Signs the links that answer; absent: none are taken. */
  readonly answerKey?: Redacted.Redacted
  /** The browsers that are told while no page is open; absent: none is. */
  readonly push?: PushBrowsers
  /** The folder of the built pages. */
  readonly pages: string
}

export interface TrustedProxy extends ProxyRules {
  /** Which the proxy sends along; absent: whatever reaches the console's address is the proxy. */
  readonly secret?: Redacted.Redacted
}

/** The console cannot listen. */
export class ConsolePortTaken extends Schema.TaggedError<ConsolePortTaken>()("ConsolePortTaken", {
  address: Schema.String,
  port: Schema.Int,
  cause: Schema.Defect()
}) {
  override get message() {
    return `The console cannot listen on ${this.address}:${this.port}.`
  }
}

/** The console would be open to whoever reaches its address. */
export class ConsoleUnguarded extends Schema.TaggedError<ConsoleUnguarded>()("ConsoleUnguarded", {
  message: Schema.String
}) {}

const loopback = "127.0.0.1"
const largestBody = ByteSize.mebibytes(4)

const pathOf = (url: string): string => url.slice(0, url.indexOf("?") < 0 ? url.length : url.indexOf("?"))

const notThroughProxy = failure(403, {
  code: "not-through-the-proxy",
  message: "The console takes only what comes through its proxy.",
  hint: `The proxy must send its secret in the header ${proxySecretHeader}.`
})

interface Guard {
  readonly origins: ReadonlyArray<string>
  readonly proxy: TrustedProxy | undefined
  /** Others than this machine reach the console. */
  readonly isOpen: boolean
  readonly visitorOf: ReturnType<typeof makeSignIn>["visitorOf"]
}

/** Lets in what `admit` lets in, and adds the headers that every response has. */
const guarded =
  ({ isOpen, origins, proxy, visitorOf }: Guard) =>
  <E, R>(app: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
    Effect.gen(function* () {
      const { cookies, headers, method, url } = yield* HttpServerRequest.HttpServerRequest
      const path = pathOf(url)
      const secret = proxy?.secret
      const isProxied =
        proxy !== undefined &&
        (secret === undefined || isSame(headers[proxySecretHeader] ?? "", Redacted.value(secret)))
      const visitor = (isProxied ? visitorOfProxy(proxy, headers) : undefined) ?? (yield* visitorOf(cookies))
      const admitted = admit(
        {
          method,
          path,
          host: headers["host"],
          origin: headers["origin"],
          fetchSite: headers["sec-fetch-site"],
          contentType: headers["content-type"],
          ...(visitor === undefined ? {} : { role: visitor.role })
        },
        origins
      )
      const isTaken = Result.isSuccess(admitted)
      const response =
        isOpen && !isProxied
          ? notThroughProxy
          : isTaken
            ? yield* Effect.provideService(app, Visiting, visitor)
            : failure(admitted.failure.status, admitted.failure)
      return HttpServerResponse.setHeaders(response, { ...securityHeaders, "cache-control": cacheControl(path) })
    })

const noSuchData = failure(404, { code: "not-found", message: "There is no such data.", hint: "Reload the page." })

/** The single page, whatever its path, and its files. */
const pagesAt = (root: string) =>
  Layer.unwrap(
    Effect.map(HttpStaticServer.make({ root, spa: true }), (pages) =>
      HttpRouter.addAll([
        HttpRouter.route("*", "/api/*", Effect.succeed(noSuchData)),
        HttpRouter.route("GET", "/*", pages)
      ])
    )
  )

/**
 * Serves the console until the scope closes; returns the port. Whoever is connected then is cut off, and connects again
 * to whoever serves next.
 */
export const serveConsole = Effect.fn("serveConsole")(function* (options: ConsoleOptions) {
  const address = options.listen ?? loopback
  const { proxy } = options
  const problem = listenProblem({ listen: address, origin: options.origin, hasSecret: proxy?.secret !== undefined })
  if (problem !== undefined) return yield* new ConsoleUnguarded({ message: problem })
  const node = createServer()
  const server = yield* NodeHttpServer.make(() => node, {
    port: options.port,
    host: address,
    disablePreemptiveShutdown: true
  }).pipe(Effect.mapError(({ cause }) => new ConsolePortTaken({ address, port: options.port, cause })))
  // Event streams never end by themselves.
  yield* Effect.addFinalizer(() => Effect.sync(() => node.closeAllConnections()))
  const bound = node.address()
  const port = typeof bound === "object" && bound !== null ? bound.port : options.port
  const { token, viewerToken } = options
  const signIn = makeSignIn({
    ...(token === undefined ? {} : { token }),
    ...(viewerToken === undefined ? {} : { viewerToken }),
    port,
    isSecure: options.origin?.startsWith("https:") === true
  })
  const routes = Layer.mergeAll(
    HttpRouter.addAll([
      ...signIn.routes,
      ...viewRoutes,
      ...eventRoutes,
      ...commandRoutes,
      ...linkRoutes(options.answerKey),
      ...pushRoutes(options.push)
    ]),
    pagesAt(options.pages)
  )
  const app = yield* HttpRouter.toHttpEffect(routes).pipe(Effect.provide(NodeHttpServer.layerHttpServices))
  const origins = originsOf(port, options.origin)
  const guard: Guard = { origins, proxy, isOpen: !isLoopback(address), visitorOf: signIn.visitorOf }
  yield* server.serve(guarded(guard)(app)).pipe(
    Effect.provideService(HttpServerRequest.MaxBodySize, largestBody),
    // Spans would hold cookies.
    Effect.provideService(HttpMiddleware.TracerDisabledWhen, () => true)
  )
  return port
})

/**
 * The HTTP side of the gate: the web console's pages, data and commands, on this machine's own address only
 * (docs/console.md). Compose it with `Messenger`, `Broker`, `ActorConfig` and `ConsoleSources`.
 */
import { createServer } from "node:http"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { ByteSize, Effect, Layer, type Redacted, Result, Schema } from "effect"
import { HttpMiddleware, HttpRouter, HttpServerRequest, HttpServerResponse, HttpStaticServer } from "effect/http"
import { admit, originsOf } from "../../console/admission.ts"
import { cacheControl, securityHeaders } from "../../console/headers.ts"
import { commandRoutes } from "./commandRoutes.ts"
import { eventRoutes } from "./eventRoutes.ts"
import { linkRoutes } from "./linkRoutes.ts"
import { failure } from "./replies.ts"
import { makeSignIn } from "./signIn.ts"
import { viewRoutes } from "./viewRoutes.ts"

export { ConsoleSources, NotPossible, Unavailable } from "./ConsoleSources.ts"

export interface ConsoleOptions {
  /** 0: any free one. */
  readonly port: number
  /** The address of a proxy in front, such as `https://reprise.example.org`. */
  readonly origin?: string
  readonly token: Redacted.Redacted
  /** Signs the links that answer; absent: none are taken. */
  readonly answerKey?: Redacted.Redacted
  /** The folder of the built pages. */
  readonly pages: string
}

/** The console cannot listen. */
export class ConsolePortTaken extends Schema.TaggedError<ConsolePortTaken>()("ConsolePortTaken", {
  port: Schema.Int,
  cause: Schema.Defect()
}) {
  override get message() {
    return `The console cannot listen on 127.0.0.1:${this.port}.`
  }
}

const loopback = "127.0.0.1"
const largestBody = ByteSize.mebibytes(4)

const pathOf = (url: string): string => url.slice(0, url.indexOf("?") < 0 ? url.length : url.indexOf("?"))

/** Lets in what `admit` lets in, and adds the headers that every response has. */
const guarded =
  (origins: ReadonlyArray<string>, isSignedIn: ReturnType<typeof makeSignIn>["isSignedIn"]) =>
  <E, R>(app: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
    Effect.gen(function* () {
      const { cookies, headers, method, url } = yield* HttpServerRequest.HttpServerRequest
      const path = pathOf(url)
      const admitted = admit(
        {
          method,
          path,
          host: headers["host"],
          origin: headers["origin"],
          fetchSite: headers["sec-fetch-site"],
          contentType: headers["content-type"],
          isSignedIn: yield* isSignedIn(cookies)
        },
        origins
      )
      const response = Result.isSuccess(admitted) ? yield* app : failure(admitted.failure.status, admitted.failure)
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
  const node = createServer()
  const server = yield* NodeHttpServer.make(() => node, {
    port: options.port,
    host: loopback,
    disablePreemptiveShutdown: true
  }).pipe(Effect.mapError(({ cause }) => new ConsolePortTaken({ port: options.port, cause })))
  // Event streams never end by themselves.
  yield* Effect.addFinalizer(() => Effect.sync(() => node.closeAllConnections()))
  const bound = node.address()
  const port = typeof bound === "object" && bound !== null ? bound.port : options.port
  const signIn = makeSignIn({ token: options.token, port, isSecure: options.origin?.startsWith("https:") === true })
  const routes = Layer.mergeAll(
    HttpRouter.addAll([
      ...signIn.routes,
      ...viewRoutes,
      ...eventRoutes,
      ...commandRoutes,
      ...linkRoutes(options.answerKey)
    ]),
    pagesAt(options.pages)
  )
  const app = yield* HttpRouter.toHttpEffect(routes).pipe(Effect.provide(NodeHttpServer.layerHttpServices))
  const origins = originsOf(port, options.origin)
  yield* server.serve(guarded(origins, signIn.isSignedIn)(app)).pipe(
    Effect.provideService(HttpServerRequest.MaxBodySize, largestBody),
    // Spans would hold cookies.
    Effect.provideService(HttpMiddleware.TracerDisabledWhen, () => true)
  )
  return port
})

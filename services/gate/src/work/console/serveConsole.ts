/**
 * The HTTP side of the gate: the web console's pages, data and commands (docs/console.md). Compose it with `Messenger`, `Broker`, `ActorConfig` and `ConsoleSources`.
 */

import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { defined } from "@reprise/protocol"
import { Clock, Effect, type Redacted, Schema } from "effect"
import { HttpMiddleware } from "effect/http"
import { originsOf } from "../../console/admission.ts"
import { type Limits, limits } from "../../console/limits.ts"
import { listenProblem } from "../../console/visitor.ts"
import { isLoopback } from "../../notify/addresses.ts"
import { makeAnswer, type TrustedProxy } from "./answering.ts"
import { consoleRoutes, type RoutedOptions } from "./consoleRoutes.ts"
import { openEndedFile } from "./endedFile.ts"
import { makeNodeServer } from "./nodeServer.ts"
import { makeRouteTable } from "./Route.ts"
import { makeSignIn } from "./signIn.ts"

export { listenProblem } from "../../console/visitor.ts"
export { readSecret } from "../secrets.ts"
export type { TrustedProxy } from "./answering.ts"
export { ConsoleSources, NotPossible, type RepositorySources, Unavailable } from "./ConsoleSources.ts"

export interface ConsoleOptions extends RoutedOptions {
  /** 0: any free one. */
  readonly port: number
  /** The address of a proxy in front, such as `https://reprise.example.org`. */
  readonly origin?: string
  /** Of answerers; absent: only a proxy signs in. */
  readonly token?: Redacted.Redacted
  /** Of viewers; absent: there are none. */
  readonly viewerToken?: Redacted.Redacted
  /** Where sessions that ended before their time are kept; absent: they are forgotten with this process. */
  readonly endedFile?: string
  /** The address to listen on. Default: this machine alone, 127.0.0.1. */
  readonly listen?: string
  /** A proxy that signs people in; absent: nobody is believed to be one. */
  readonly proxy?: TrustedProxy
  /** Other limits on clients than the usual ones: for tests. */
  readonly limits?: Partial<Limits>
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

/**
 * Serves the console until the scope closes; returns the port. Whoever is connected then is cut off, and connects again
 * to whoever serves next.
 */
export const serveConsole = Effect.fn("serveConsole")(function* (options: ConsoleOptions) {
  const address = options.listen ?? loopback
  const { proxy } = options
  const problem = listenProblem({ listen: address, origin: options.origin, hasSecret: proxy?.secret !== undefined })
  if (problem !== undefined) return yield* new ConsoleUnguarded({ message: problem })
  const endedFile = yield* openEndedFile(options.endedFile, yield* Clock.currentTimeMillis)
  const bounds = { ...limits, ...options.limits }
  const { connections, keepToHttp, server: node } = makeNodeServer(bounds)
  const server = yield* NodeHttpServer.make(() => node, {
    port: options.port,
    host: address,
    disablePreemptiveShutdown: true
  }).pipe(Effect.mapError(({ cause }) => new ConsolePortTaken({ address, port: options.port, cause })))
  // Event streams never end by themselves.
  yield* Effect.addFinalizer(() => Effect.sync(() => node.closeAllConnections()))
  const bound = node.address()
  const port = typeof bound === "object" && bound !== null ? bound.port : options.port
  const { answerKey, token, viewerToken } = options
  const signIn = makeSignIn({
    ...defined({ key: answerKey, token, viewerToken }),
    mostSessions: bounds.sessions,
    endedFile
  })
  const routes = yield* consoleRoutes(signIn, options).pipe(Effect.provide(NodeHttpServer.layerHttpServices))
  const answer = makeAnswer({
    find: makeRouteTable(routes),
    origins: originsOf(port, options.origin),
    proxy,
    isOpen: !isLoopback(address),
    visitorOf: signIn.visitorOf,
    limits: bounds,
    connections
  })
  // Spans would hold sessions.
  yield* server.serve(answer).pipe(Effect.provideService(HttpMiddleware.TracerDisabledWhen, () => true))
  keepToHttp()
  return port
})

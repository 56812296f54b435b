/**
 * Answers over HTTP whether a service lives and is ready, for the probes of a container
 * (docs/operations.md#health-of-a-service), and with its metrics, for Prometheus.
 */
import { formatMetrics } from "@reprise/observability/prometheus"
import { Effect, Option, Schema } from "effect"
import { lagForReaders } from "../metrics/lagMetrics.ts"
import type { ReadinessShape } from "./Readiness.ts"

export interface HealthAddress {
  readonly host: string
  readonly port: number
}

/** Reads `127.0.0.1:8080`, `[::]:8080`, `name:8080`; none for anything else. Port 0 is any free one. */
export const readHealthAddress = (text: string): Option.Option<HealthAddress> => {
  const match = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9_.-]+)):(\d{1,5})$/.exec(text)
  const host = match?.[1] ?? match?.[2]
  const port = Number(match?.[3])
  return host === undefined || port > 65_535 ? Option.none() : Option.some({ host, port })
}

export class HealthAddressUnusable extends Schema.TaggedError<HealthAddressUnusable>()("HealthAddressUnusable", {
  address: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `REPRISE_HEALTH_ADDRESS is '${this.address.slice(0, 80)}': ${this.reason}. Set an address of this machine and a free port, such as 127.0.0.1:8080.`
  }
}

interface Answer {
  readonly status: number
  readonly text: string
}

const answer = (
  { dead, waitsFor }: ReadinessShape,
  measured: Effect.Effect<void>,
  path: string | undefined
): Effect.Effect<Answer> => {
  switch (path) {
    case "/livez":
      return Effect.map(dead, (why) =>
        why === undefined ? { status: 200, text: "lives" } : { status: 503, text: why }
      )
    case "/readyz":
      return Effect.map(waitsFor, (what) =>
        what === undefined ? { status: 200, text: "is ready" } : { status: 503, text: `waits for ${what}` }
      )
    case "/metrics":
      return Effect.map(measured, () => ({ status: 200, text: formatMetrics() }))
    default:
      return Effect.succeed({ status: 404, text: "There are /livez, /readyz and /metrics." })
  }
}

const lengthRequired = "HTTP/1.1 411 Length Required\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"

/** Answers until the scope closes; returns the port that it listens on. */
export const serveHealth = Effect.fn("serveHealth")(function* (
  { host, port }: HealthAddress,
  readiness: ReadinessShape
) {
  // Loading it takes longer than all other modules of Node together, and few processes are probed.
  const { createBoundedServer } = yield* Effect.promise(() => import("../http/createBoundedServer.ts"))
  const measured = yield* lagForReaders
  const headers = { "content-type": "text/plain; charset=utf-8", connection: "close" }
  const server = createBoundedServer({}, lengthRequired)
  server.on("request", (request, response) => {
    const answered = Effect.map(answer(readiness, measured, request.url), ({ status, text }) =>
      response.writeHead(status, headers).end(`${text}\n`)
    )
    Effect.runFork(answered)
  })
  const listening = Effect.callback<void, HealthAddressUnusable>((resume) => {
    server.once("error", ({ message: reason }) =>
      resume(Effect.fail(new HealthAddressUnusable({ address: `${host}:${port}`, reason })))
    )
    server.listen(port, host, () => resume(Effect.void))
  })
  yield* Effect.acquireRelease(listening, () =>
    Effect.sync(() => {
      server.close()
      server.closeAllConnections()
    })
  )
  const bound = server.address()
  return typeof bound === "object" && bound !== null ? bound.port : port
})

/** A real HTTP server on the loopback that takes notifications, and remembers what it was sent. */
import { createServer, type IncomingHttpHeaders } from "node:http"
import { Effect } from "effect"

export interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** The same as it was sent. */
  readonly bytes: Buffer
}

/** A status with headers; `never`: the request stays without an answer. */
export type Reply = { readonly status: number; readonly headers?: Record<string, string> } | "never"

export interface ReceiverHandle {
  readonly url: string
  readonly requests: ReadonlyArray<Received>
  /** The most requests that were open at the same time. */
  readonly atOnce: () => number
}

/** Runs until the scope closes. `reply`: the answer to the n-th request, from 1. */
export const startReceiver = Effect.fnUntraced(function* (
  reply: (request: Received, n: number) => Reply = () => ({ status: 200 })
) {
  const requests: Array<Received> = []
  let open = 0
  let atOnce = 0
  const server = createServer((request, response) => {
    open += 1
    atOnce = Math.max(atOnce, open)
    response.on("close", () => {
      open -= 1
    })
    const parts: Array<Buffer> = []
    request.on("data", (part: Buffer) => parts.push(part))
    request.on("end", () => {
      const { headers, url = "" } = request
      const bytes = Buffer.concat(parts)
      const received = { path: url, headers, body: bytes.toString("utf8"), bytes }
      requests.push(received)
      const answer = reply(received, requests.length)
      if (answer !== "never") response.writeHead(answer.status, answer.headers).end()
    })
  })
  yield* Effect.acquireRelease(
    Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))),
    () =>
      Effect.promise(
        () =>
          new Promise<void>((resolve) => {
            server.close(() => resolve())
            server.closeAllConnections()
          })
      )
  )
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return { url: `http://127.0.0.1:${port}`, requests, atOnce: () => atOnce } satisfies ReceiverHandle
})

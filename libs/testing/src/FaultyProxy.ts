/**
 * Stands between a client and an HTTP server and injects faults: it answers in the server's place, cuts answers off,
 * never answers, and leaves events out of streams. Everything else passes unchanged.
 */
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http"
import { Context, Effect, Latch } from "effect"

export type ProxyFault =
  /** The server never sees the request. */
  | { readonly do: "answer"; readonly status: number; readonly body?: string }
  /** The connection ends at once, and the server never sees the request. */
  | { readonly do: "drop" }
  /** The server carries out the request; the proxy drops its answer and reports success to the client at once. */
  | { readonly do: "accept" }
  /** The connection ends during the server's answer: the client gets its head and a part of its body. */
  | { readonly do: "cut" }
  /** The server carries out the request, and the client gets no answer. */
  | { readonly do: "swallow" }
  /** Events of these types never arrive; for streams of server-sent events. */
  | { readonly do: "mute"; readonly types: ReadonlyArray<string> }

export interface FaultRule {
  readonly method?: string
  readonly path: RegExp
  readonly fault: ProxyFault
  /** Default: until the faults are cleared. */
  readonly times?: number
}

interface Standing extends FaultRule {
  left: number
  readonly met: Latch.Latch
}

export interface FaultyProxyShape {
  readonly url: string
  /** Applies from now on, before earlier rules. `met` completes once it has applied to a request. */
  readonly fault: (rule: FaultRule) => Effect.Effect<{ readonly met: Effect.Effect<void> }>
  /** Removes all faults. Requests that hang already keep hanging. */
  readonly clear: Effect.Effect<void>
  /** Ends every open stream of server-sent events. */
  readonly cutStreams: Effect.Effect<void>
  /** Ends every open connection. */
  readonly cutAll: Effect.Effect<void>
}

const isStream = (answer: IncomingMessage) => (answer.headers["content-type"] ?? "").startsWith("text/event-stream")

/** Passes whole events on, without those that are muted. */
const passEvents = (from: IncomingMessage, to: ServerResponse, isMuted: (event: string) => boolean) => {
  let rest = ""
  from.setEncoding("utf8").on("data", (text: string) => {
    const events = (rest + text).split("\n\n")
    rest = events.pop() ?? ""
    for (const event of events) if (!isMuted(event)) to.write(`${event}\n\n`)
  })
  from.on("end", () => to.end(rest))
}

/** A proxy before the server at `target`, until the scope closes. */
export const makeFaultyProxy = Effect.fn("makeFaultyProxy")(function* (target: string) {
  let standing: ReadonlyArray<Standing> = []
  const streams = new Set<ServerResponse>()

  const faultOf = ({ method, url }: IncomingMessage): ProxyFault | undefined => {
    const rule = standing.find((it) => it.left > 0 && (it.method ?? method) === method && it.path.test(url ?? ""))
    if (rule === undefined) return undefined
    rule.left--
    rule.met.openUnsafe()
    return rule.fault
  }
  const isMuted = (path: string) => (event: string) =>
    standing.some(
      ({ fault, path: of }) =>
        fault.do === "mute" && of.test(path) && fault.types.some((type) => event.includes(`"type":"${type}"`))
    )

  const forward = (near: IncomingMessage, reply: ServerResponse, fault: ProxyFault | undefined) => {
    const far = request(`${target}${near.url}`, { method: near.method, headers: near.headers, agent: false })
    far.on("error", () => reply.destroy())
    // A client that goes away takes its request with it, unless it was told that the request succeeded.
    reply.on("close", () => (fault?.do === "accept" ? undefined : far.destroy()))
    far.on("response", (answer) => {
      answer.on("error", () => reply.destroy())
      if (fault?.do === "accept" || fault?.do === "swallow") return answer.resume()
      reply.writeHead(answer.statusCode ?? 502, answer.headers)
      if (fault?.do === "cut") return reply.write("{", () => reply.destroy())
      if (!isStream(answer)) return answer.pipe(reply)
      streams.add(reply)
      reply.on("close", () => streams.delete(reply))
      return passEvents(answer, reply, isMuted(near.url ?? ""))
    })
    near.pipe(far)
    if (fault?.do === "accept") reply.writeHead(204).end()
  }

  const server = createServer((near, reply) => {
    const fault = faultOf(near)
    if (fault?.do === "drop") return near.socket.destroy()
    if (fault?.do !== "answer") return forward(near, reply, fault)
    near.resume()
    return reply.writeHead(fault.status, { "content-type": "application/json" }).end(fault.body ?? "{}")
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.void))
    }),
    () =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      })
  )
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return FaultyProxy.of({
    url: `http://127.0.0.1:${port}`,
    fault: (rule) =>
      Effect.sync(() => {
        const met = Latch.makeUnsafe()
        standing = [{ ...rule, left: rule.times ?? Number.POSITIVE_INFINITY, met }, ...standing]
        return { met: met.await }
      }),
    clear: Effect.sync(() => {
      standing = []
    }),
    cutStreams: Effect.sync(() => {
      for (const stream of streams) stream.destroy()
    }),
    cutAll: Effect.sync(() => server.closeAllConnections())
  })
})

export class FaultyProxy extends Context.Service<FaultyProxy, FaultyProxyShape>()("testing/FaultyProxy") {}

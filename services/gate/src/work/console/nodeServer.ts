/**
 * Node's server below the console: how long a client may take, how many connections there are, and what is answered to
 * bytes that are not a request.
 */
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http"
import { createBoundedServer, newestResponse, refuseUnwanted } from "@reprise/actor/http"
import { headersOf } from "../../console/headers.ts"
import type { Limits } from "../../console/limits.ts"
import { type Connections, makeConnections } from "./Connections.ts"
import { failureBody } from "./replies.ts"

export interface NodeServer {
  readonly server: Server
  readonly connections: Connections
  /** To be called once requests are listened to: the console speaks HTTP alone, whatever a client wishes. */
  readonly keepToHttp: () => void
}

const statusOf = (error: Error): number => {
  const code = "code" in error ? error.code : undefined
  if (code === "HPE_HEADER_OVERFLOW") return 431
  if (code === "HPE_CHUNK_EXTENSIONS_OVERFLOW") return 413
  return code === "ERR_HTTP_REQUEST_TIMEOUT" ? 408 : 400
}

const unreadable = failureBody({
  code: "unreadable",
  message: "The request cannot be read.",
  hint: "It is no HTTP request, has too many headers, or did not come in time."
})

const lengthRequired = failureBody({
  code: "length-required",
  message: "The console takes no body in chunks.",
  hint: "Send it as a whole, with Content-Length."
})

const written = (status: number, body: string): string =>
  [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "connection: close",
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
    ...Object.entries(headersOf("never", status)).map(([name, value]) => `${name}: ${value}`),
    "",
    body
  ].join("\r\n")

export const makeNodeServer = (limits: Limits): NodeServer => {
  const { patience } = limits
  const refusal = written(411, lengthRequired)
  const options = {
    headersTimeout: patience.headersMs,
    requestTimeout: patience.requestMs,
    keepAliveTimeout: patience.betweenRequestsMs,
    connectionsCheckingInterval: patience.headersMs / 5,
    // A header that comes twice is read as neither: by default Node keeps the first of some, and drops the rest.
    joinDuplicateHeaders: true,
    // A request without a name for this machine is refused like one with a wrong name.
    requireHostHeader: false
  }
  const server = createBoundedServer(options, refusal)
  server.timeout = patience.readingMs
  const connections = makeConnections(server, limits)

  server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) =>
    server.emit("request", request, response)
  )
  server.on("clientError", (error, socket) => {
    const newest = newestResponse(socket)
    // Of what was asked before on this connection nothing may be cut in two, or be taken for the answer to this.
    const isFree = newest === undefined || newest.writableFinished || (!newest.headersSent && newest.socket === socket)
    if (isFree && socket.writable) socket.end(written(statusOf(error), unreadable), () => socket.destroy())
    else socket.destroy()
  })

  return { server, connections, keepToHttp: () => refuseUnwanted(server, refusal) }
}

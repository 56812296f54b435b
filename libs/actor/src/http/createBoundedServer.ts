/**
 * An HTTP server that reads no further than the requests that it answers. Node calls JavaScript for each chunk of a body
 * and for each request of a connection, and destroying the socket does not stop it: the rest of a read of 64 KiB, which
 * holds ten thousand chunks or three thousand requests, still comes. Only a request that changes the protocol ends the
 * parser where it stands, so a request that is not wanted counts as one.
 */
import { createServer, IncomingMessage, type Server, type ServerOptions, ServerResponse } from "node:http"
import type { Duplex } from "node:stream"

type Unwanted = "has chunks" | "comes before the answer to another"

const newest = new WeakMap<Duplex, ServerResponse>()

/** The newest response of a connection; undefined: nothing was asked on it. */
export const newestResponse = (socket: Duplex): ServerResponse | undefined => newest.get(socket)

const unwanted = ({ headers, socket }: IncomingMessage): Unwanted | undefined => {
  // A response has its socket until it has been sent.
  if ((newest.get(socket)?.socket ?? null) !== null) return "comes before the answer to another"
  return headers["transfer-encoding"] === undefined ? undefined : "has chunks"
}

class BoundedRequest extends IncomingMessage {
  #unwanted: Unwanted | "nothing" | undefined

  /** Decided once, with the headers: Node asks again after the read, when this request's own answer is under way. */
  get unwanted(): Unwanted | "nothing" {
    this.#unwanted ??= unwanted(this) ?? "nothing"
    return this.#unwanted
  }

  /** What Node ends its parser by. A client's wish for another protocol is none of it. */
  get upgrade(): boolean {
    return this.method === "CONNECT" || this.unwanted !== "nothing"
  }

  set upgrade(_: boolean) {
    // Node writes here what the client wishes.
  }
}

class BoundedResponse<R extends IncomingMessage> extends ServerResponse<R> {
  constructor(...given: ConstructorParameters<typeof ServerResponse<R>>) {
    super(...given)
    newest.set(given[0].socket, this)
  }
}

/**
 * Has the server answer a request with chunks by this text, and cut off whoever asks before the last answer was sent.
 * Nothing else changes the protocol: all other listeners for that are removed.
 */
export const refuseUnwanted = (server: Server, lengthRequired: string): void => {
  server.removeAllListeners("upgrade")
  server.on("upgrade", (request: IncomingMessage, socket: Duplex) => {
    socket.on("error", () => undefined)
    const isAlone = request instanceof BoundedRequest && request.unwanted === "has chunks"
    if (isAlone && socket.writable) socket.end(lengthRequired, () => socket.destroy())
    else socket.destroy()
  })
}

/** `lengthRequired`: the whole response, with its head, to a request whose body has no length. */
export const createBoundedServer = (options: ServerOptions, lengthRequired: string): Server => {
  const server = createServer<typeof IncomingMessage, typeof ServerResponse>({
    ...options,
    IncomingMessage: BoundedRequest,
    ServerResponse: BoundedResponse
  })
  refuseUnwanted(server, lengthRequired)
  return server
}

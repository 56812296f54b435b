/** The open connections of the console, and which of them end when there are too many. */
import type { Server } from "node:http"
import type { Socket } from "node:net"
import { type Connected, surplus } from "../../console/connections.ts"
import type { Limits } from "../../console/limits.ts"
import { type Client, clientOf } from "./Clients.ts"

export interface Connections {
  /** A request of this client came on it. */
  readonly use: (socket: Socket, client: Client) => void
  /** Whether an answer is being made or sent on it. */
  readonly setUnderWay: (socket: Socket, isUnderWay: boolean) => void
}

interface Connection extends Connected {
  readonly socket: Socket
}

/** To end a connection takes time, in which nothing else is done. */
const mostAtATime = 64

/** What has been read from connections that were open before is known after this. */
const afterReading = (run: () => void) => setImmediate(() => setImmediate(run))

export const makeConnections = (server: Server, limits: Limits): Connections => {
  const room = {
    signedIn: limits.connections - limits.signedOutConnections,
    signedOut: limits.signedOutConnections
  }
  // Whose connection it is shows its first request, so there are more for a moment. Node drops what it does not know.
  server.maxConnections = 2 * limits.connections
  const open = new Map<Socket, Connection>()
  let uses = 0
  /** Whether it is looked at soon, or at once. */
  const planned = { soon: false, now: false }

  const end = (connections: ReadonlyArray<Connection>) => {
    for (const { socket } of connections) {
      open.delete(socket)
      socket.destroy()
    }
  }

  const endNow = () => {
    planned.now = false
    end(surplus(open.values(), room))
  }

  const endSoon = () => {
    planned.soon = false
    const all = surplus(open.values(), room)
    end(all.slice(0, mostAtATime))
    if (all.length > mostAtATime) makeRoom()
  }

  /** Not before the newest connections have sent what shows whose they are, and, while there is room in all, not often. */
  const makeRoom = () => {
    if (open.size <= Math.min(room.signedIn, room.signedOut)) return
    if (open.size > limits.connections && !planned.now) {
      planned.now = true
      afterReading(endNow)
    } else if (!planned.soon) {
      planned.soon = true
      setTimeout(endSoon, limits.surplusAfterMs).unref()
    }
  }

  const change = (socket: Socket, changed: Partial<Connected>) => {
    const known = open.get(socket)
    if (known !== undefined) open.set(socket, { ...known, ...changed, usedAt: ++uses })
  }

  const use = (socket: Socket, { isSignedIn, name }: Client) => {
    change(socket, { client: name, isSignedIn })
    makeRoom()
  }

  server.on("connection", (socket) => {
    const { isSignedIn, name } = clientOf(undefined, socket.remoteAddress ?? "")
    open.set(socket, { socket, client: name, isSignedIn, isUnderWay: false, usedAt: ++uses })
    socket.once("close", () => open.delete(socket))
    makeRoom()
  })

  return { use, setUnderWay: (socket, isUnderWay) => change(socket, { isUnderWay }) }
}

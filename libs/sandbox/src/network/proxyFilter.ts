/**
 * The filter before the proxy, one for each workspace, so it knows whose commands connect. A name that may be reached is passed on
 * to the proxy, which checks it again; about any other, whoever works in the workspace is asked while the command waits.
 */
import { connect, type Socket } from "node:net"
import type { Decider } from "../refused/decider.ts"
import { mayReach, targetOf } from "./hosts.ts"

export interface Opening {
  readonly names: () => ReadonlyArray<string>
  /** Absent: nobody can be asked. */
  readonly decider: () => Decider | undefined
  /** The proxy's socket, for these names too; absent: nothing is ever let through. */
  readonly proxy?: (names: ReadonlyArray<string>) => Promise<string>
}

const longestLine = 8192

const answer = (socket: Socket, status: string, text: string) =>
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: ${text.length + 1}\r\n\r\n${text}\n`
  )

const forward = (client: Socket, path: string, begun: Buffer) => {
  const proxy = connect(path)
  proxy.once("error", () => client.destroy())
  client.once("close", () => proxy.destroy())
  proxy.once("close", () => client.destroy())
  proxy.write(begun)
  client.pipe(proxy)
  proxy.pipe(client)
}

/** The proxy ends the connection after its first request: what follows could be for another name, and is not asked about. */
const alone = (line: string, begun: Buffer): Buffer =>
  line.startsWith("CONNECT ")
    ? begun
    : Buffer.concat([Buffer.from(`${line}\r\nConnection: close\r\n`, "latin1"), begun.subarray(line.length + 2)])

const passOn = async (client: Socket, begun: Buffer, line: string, opening: Opening) => {
  const target = targetOf(line)
  if (target === undefined) return answer(client, "400 Bad Request", "reprise: this is no request to a proxy.")
  const isAllowed =
    mayReach(opening.names(), target) || (await (opening.decider()?.reach(target) ?? Promise.resolve(false)))
  if (!isAllowed || opening.proxy === undefined) {
    const refused = `reprise: ${target.host} may not be reached from the sandbox. sandbox.network names what may.`
    return answer(client, "403 Forbidden", refused)
  }
  const name = target.host.startsWith("[") ? `${target.host}:${target.port}` : target.host
  const path = await opening.proxy([name])
  if (!client.destroyed) forward(client, path, alone(line, begun))
}

/** Reads the first line of the request; what else has come belongs to the proxy. */
export const filterConnection = (client: Socket, opening: Opening) => {
  let begun = Buffer.alloc(0)
  const read = (chunk: Buffer) => {
    begun = Buffer.concat([begun, chunk])
    const end = begun.indexOf("\r\n")
    if (end === -1 && begun.length < longestLine) return
    client.off("data", read)
    client.pause()
    const line = begun.subarray(0, Math.max(end, 0)).toString("latin1")
    passOn(client, begun, line, opening).catch(() => client.destroy())
  }
  client.on("data", read)
}

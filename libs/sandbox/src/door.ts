/**
 * The door before the proxy, one for each workspace: it knows whose commands knock. A name that may be reached is passed on
 * to the proxy, which checks it again; about any other, whoever works in the workspace is asked while the command waits.
 */
import { mkdtemp, rm } from "node:fs/promises"
import { connect, createServer, type Server, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { mayReach, type Target, targetOf } from "./hosts.ts"
import { ProxyFailed } from "./proxy.ts"

/** Whether a command may reach a name. */
export type HostDecider = (target: Target) => Promise<boolean>

interface Opening {
  readonly names: () => ReadonlyArray<string>
  /** Absent: nobody can be asked. */
  readonly decider: () => HostDecider | undefined
  /** The proxy's socket, for these names too. */
  readonly proxy: (names: ReadonlyArray<string>) => Promise<string>
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
  if (!mayReach(opening.names(), target)) {
    const allowed = await (opening.decider()?.(target) ?? Promise.resolve(false))
    if (!allowed) {
      const refused = `reprise: ${target.host} may not be reached from the sandbox. sandbox.network names what may.`
      return answer(client, "403 Forbidden", refused)
    }
  }
  const name = target.host.startsWith("[") ? `${target.host}:${target.port}` : target.host
  const path = await opening.proxy([name])
  if (!client.destroyed) forward(client, path, alone(line, begun))
}

/** Reads the first line of the request; what else has come belongs to the proxy. */
const receive = (client: Socket, opening: Opening) => {
  let begun = Buffer.alloc(0)
  client.on("error", () => client.destroy())
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

const listen = (server: Server, path: string) =>
  new Promise<void>((resolve, reject) => {
    server.once("error", reject)
    server.listen(path, resolve)
  })

/**
 * Opens doors until the scope closes. Sockets lie in a folder of their own in the machine's temporary folder, since a path
 * of a socket may not be long.
 */
export const makeDoors = Effect.gen(function* () {
  const doors = new Map<string, { readonly path: string; readonly server: Server }>()
  const open = new Set<Socket>()
  let folder: string | undefined
  yield* Effect.addFinalizer(() =>
    Effect.promise(async () => {
      for (const { server } of doors.values()) server.close()
      for (const socket of open) socket.destroy()
      if (folder !== undefined) await rm(folder, { recursive: true, force: true })
    })
  )
  return (key: string, opening: Opening) =>
    Effect.tryPromise({
      try: async () => {
        const known = doors.get(key)
        if (known !== undefined) return known.path
        folder ??= await mkdtemp(join(tmpdir(), "reprise-door-"))
        const path = join(folder, `${doors.size}`)
        const server = createServer((client) => {
          open.add(client)
          client.once("close", () => open.delete(client))
          receive(client, opening)
        })
        doors.set(key, { path, server })
        await listen(server, path)
        return path
      },
      catch: (cause) => new ProxyFailed({ cause })
    })
})

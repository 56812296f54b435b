/** Sockets of this process that the programs of its commands connect to, each by a key, until the scope closes. */
import { mkdtemp, rm } from "node:fs/promises"
import { createServer, type Server, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"

interface Answering {
  readonly receive: (client: Socket) => void
  /** Whether it may still answer when the other side has said all. */
  readonly afterEnd?: boolean
}

const listen = (server: Server, path: string) =>
  new Promise<void>((resolve, reject) => {
    server.once("error", reject)
    server.listen(path, resolve)
  })

/**
 * Gives the path of a key's socket, which answers as it was first asked to. Sockets lie in a folder of their own in the
 * machine's temporary folder, since a path of a socket may not be long; no command in the sandbox sees that one.
 */
export const makeSockets = Effect.gen(function* () {
  /** Also those that are being made: two who want the same one get it. */
  const known = new Map<string, Promise<string>>()
  const servers = new Set<Server>()
  const open = new Set<Socket>()
  let folder: Promise<string> | undefined
  yield* Effect.addFinalizer(() =>
    Effect.promise(async () => {
      for (const server of servers) server.close()
      for (const socket of open) socket.destroy()
      const made = await folder?.catch(() => undefined)
      if (made !== undefined) await rm(made, { recursive: true, force: true })
    })
  )
  const make = async (name: string, { afterEnd = false, receive }: Answering): Promise<string> => {
    folder ??= mkdtemp(join(tmpdir(), "reprise-sockets-"))
    const path = join(await folder, name)
    const server = createServer({ allowHalfOpen: afterEnd }, (client) => {
      open.add(client)
      client.once("close", () => open.delete(client))
      client.on("error", () => client.destroy())
      receive(client)
    })
    servers.add(server)
    await listen(server, path)
    return path
  }
  return (key: string, answering: Answering): Promise<string> => {
    const found = known.get(key)
    if (found !== undefined) return found
    const made = make(`${known.size}`, answering)
    known.set(key, made)
    return made
  }
})

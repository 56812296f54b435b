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
  const known = new Map<string, { readonly path: string; readonly server: Server }>()
  const open = new Set<Socket>()
  let folder: string | undefined
  yield* Effect.addFinalizer(() =>
    Effect.promise(async () => {
      for (const { server } of known.values()) server.close()
      for (const socket of open) socket.destroy()
      if (folder !== undefined) await rm(folder, { recursive: true, force: true })
    })
  )
  return async (key: string, { afterEnd = false, receive }: Answering): Promise<string> => {
    const found = known.get(key)
    if (found !== undefined) return found.path
    folder ??= await mkdtemp(join(tmpdir(), "reprise-door-"))
    const path = join(folder, `${known.size}`)
    const server = createServer({ allowHalfOpen: afterEnd }, (client) => {
      open.add(client)
      client.once("close", () => open.delete(client))
      client.on("error", () => client.destroy())
      receive(client)
    })
    known.set(key, { path, server })
    await listen(server, path)
    return path
  }
})

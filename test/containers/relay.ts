/** Leads from a port on every address of this machine to one that is open on loopback only. */
import { createServer, connect as dial, type Socket } from "node:net"
import { Effect } from "effect"

/** Containers reach this machine by the address of their network's gateway, where a scripted model does not listen. */
export const relay = (port: number) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const open = new Set<Socket>()
      const server = createServer((socket) => {
        const inner = dial(port, "127.0.0.1")
        for (const [one, other] of [
          [socket, inner],
          [inner, socket]
        ] as const) {
          open.add(one)
          one.on("error", () => other.destroy()).on("close", () => open.delete(one))
        }
        socket.pipe(inner).pipe(socket)
      })
      await new Promise<void>((resolve) => server.listen(0, "0.0.0.0", resolve))
      const address = server.address()
      return { server, open, port: typeof address === "object" && address !== null ? address.port : 0 }
    }),
    ({ open, server }) =>
      Effect.promise(async () => {
        for (const socket of open) socket.destroy()
        await new Promise((resolve) => server.close(resolve))
      })
  )

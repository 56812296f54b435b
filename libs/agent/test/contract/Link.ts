/** A wire between a runtime and its server that a test can cut, or make swallow what the server says. */
import { createServer, connect as dial, type Socket } from "node:net"
import { Effect } from "effect"

export interface Link {
  readonly url: string
  /** Ends every connection; new ones work. */
  readonly cut: Effect.Effect<void>
  /** Connections of now stay open, and nothing comes back on them any more; new ones work. */
  readonly swallow: Effect.Effect<void>
  /** Ends every connection and refuses new ones. */
  readonly unplug: Effect.Effect<void>
}

/** A link to a server on this machine, until the scope closes. */
export const makeLink = Effect.fnUntraced(function* (target: string) {
  const { hostname, port } = new URL(target)
  const open = new Set<readonly [Socket, Socket]>()
  const server = createServer((near) => {
    const far = dial(Number(port), hostname)
    const pair = [near, far] as const
    open.add(pair)
    near.pipe(far)
    far.pipe(near)
    for (const socket of pair) {
      socket.on("error", () => undefined)
      socket.on("close", () => {
        open.delete(pair)
        for (const it of pair) it.destroy()
      })
    }
  })
  const cut = Effect.sync(() => {
    for (const [near, far] of open) {
      near.destroy()
      far.destroy()
    }
  })
  const swallow = Effect.sync(() => {
    for (const [near, far] of open) {
      far.unpipe(near)
      far.resume()
    }
  })
  const unplug = Effect.andThen(
    Effect.sync(() => void server.close()),
    cut
  )
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.void))
    }),
    () => unplug
  )
  const address = server.address()
  const nearPort = typeof address === "object" && address !== null ? address.port : 0
  return { url: `http://127.0.0.1:${nearPort}`, cut, swallow, unplug } satisfies Link
})

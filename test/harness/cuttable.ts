/** A way to a port of this machine that can be cut: connections end, and new ones are refused, until it is joined again. */
import { createServer, connect as dial, type Socket } from "node:net"
import { Effect } from "effect"

export const makeCuttable = Effect.fnUntraced(function* () {
  let target = 0
  let isCut = false
  const open = new Set<Socket>()
  const server = createServer((near) => {
    if (isCut) {
      near.destroy()
      return
    }
    const far = dial(target, "127.0.0.1")
    for (const [one, other] of [
      [near, far],
      [far, near]
    ] as const) {
      open.add(one)
      one.on("error", () => other.destroy())
      one.on("close", () => {
        open.delete(one)
        other.destroy()
      })
    }
    near.pipe(far)
    far.pipe(near)
  })
  const cut = () => {
    isCut = true
    for (const socket of open) socket.destroy()
  }
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.void))
    }),
    () =>
      Effect.sync(() => {
        cut()
        server.close()
      })
  )
  const bound = server.address()
  const port = typeof bound === "object" && bound !== null ? bound.port : 0
  return {
    /** Where browsers connect to. */
    origin: `http://127.0.0.1:${port}`,
    leadTo: (to: number) => {
      target = to
    },
    cut,
    join: () => {
      isCut = false
    }
  }
})

/** Ports of this machine, for programs that listen on 127.0.0.1. */
import { createServer } from "node:net"
import { Effect } from "effect"

/** A port that was free a moment ago: another process may take it before it is used. Fails with Node's own error. */
export const freePort: Effect.Effect<number, unknown> = Effect.callback((resume) => {
  const probe = createServer()
  probe.once("error", (error) => resume(Effect.fail(error)))
  probe.listen(0, "127.0.0.1", () => {
    const address = probe.address()
    probe.close(() =>
      resume(typeof address === "object" && address !== null ? Effect.succeed(address.port) : Effect.fail("no port"))
    )
  })
})

/** Whether a process listens on the port now. */
export const isPortTaken = (port: number): Effect.Effect<boolean> =>
  Effect.callback((resume) => {
    const probe = createServer()
    probe.once("error", (error: NodeJS.ErrnoException) => resume(Effect.succeed(error.code === "EADDRINUSE")))
    probe.listen(port, "127.0.0.1", () => probe.close(() => resume(Effect.succeed(false))))
  })

/** Ports of this machine's loopback, for a server that has to be told which one to use. */
import { createServer } from "node:net"
import { Effect } from "effect"
import { OpenCodeStateFault } from "./OpenCodeUnavailable.ts"

/** A port that was free a moment ago: OpenCode's own choice would be a fixed one. */
export const freePort: Effect.Effect<number, OpenCodeStateFault> = Effect.callback((resume) => {
  const probe = createServer()
  const failed = (cause: unknown) => Effect.fail(new OpenCodeStateFault({ operation: "finding a free port", cause }))
  probe.once("error", (error) => resume(failed(error)))
  probe.listen(0, "127.0.0.1", () => {
    const address = probe.address()
    probe.close(() =>
      resume(typeof address === "object" && address !== null ? Effect.succeed(address.port) : failed("no port"))
    )
  })
})

/** Whether somebody has the port now. */
export const isTaken = (port: number): Effect.Effect<boolean> =>
  Effect.callback((resume) => {
    const probe = createServer()
    probe.once("error", (error: NodeJS.ErrnoException) => resume(Effect.succeed(error.code === "EADDRINUSE")))
    probe.listen(port, "127.0.0.1", () => probe.close(() => resume(Effect.succeed(false))))
  })

/** Ports of this machine, for programs that listen on 127.0.0.1. */
import { readFileSync } from "node:fs"
import { createServer } from "node:net"
import { endianness } from "node:os"
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

/** Four bytes as the kernel prints them: a number in the byte order of the machine. */
const word = (...bytes: ReadonlyArray<number>): string =>
  Buffer.from(endianness() === "LE" ? bytes.toReversed() : bytes)
    .toString("hex")
    .toUpperCase()

const loopback = word(127, 0, 0, 1)

/** At which a program gets what is sent to 127.0.0.1: alone, with all others, and both by IPv6. */
const reachedAt: ReadonlySet<string> = new Set([
  loopback,
  "0".repeat(8),
  "0".repeat(32),
  `${"0".repeat(16)}${word(0, 0, 255, 255)}${loopback}`
])

/**
 * The users whose processes listen on a port of 127.0.0.1, or have a connection that was accepted there, by a table in the form
 * of `/proc/net/tcp`. Pure. What no process has, such as a connection that nobody has accepted yet, counts for nobody.
 */
export const usersAt = (table: string, port: number): ReadonlyArray<number> => {
  const ending = `:${port.toString(16).toUpperCase().padStart(4, "0")}`
  return table.split("\n").flatMap((line) => {
    if (!line.includes(ending)) return []
    const [, local = "", , , , , , user, , inode] = line.trim().split(/\s+/)
    const isThere = local.endsWith(ending) && reachedAt.has(local.slice(0, -ending.length))
    return isThere && inode !== "0" ? [Number(user)] : []
  })
}

/**
 * Who may run a server whose private description names its owner: that one, or this user. Whoever may read the description of
 * another user, such as root, may talk to theirs. Undefined: the description names nobody, or the system knows no users.
 */
export const usersOfServer = (owner: number | undefined): ReadonlyArray<number> | undefined => {
  const own = process.getuid?.()
  return own === undefined || owner === undefined ? undefined : [own, owner]
}

const tableOf = (file: string): string => {
  try {
    return readFileSync(file, "utf8")
  } catch {
    return ""
  }
}

/**
 * A user who is none of these and has a process at the port of 127.0.0.1; undefined if there is none, or where the system does
 * not tell (macOS). Asked while one is connected to the port, it holds for the connection: who listened when it was made listens
 * still, or has accepted it, or it is broken. At once, so that nothing can come from the other end meanwhile.
 */
export const strangerAt = (port: number, users: ReadonlyArray<number>): number | undefined =>
  ["/proc/net/tcp", "/proc/net/tcp6"]
    .flatMap((file) => usersAt(tableOf(file), port))
    .find((user) => !users.includes(user))

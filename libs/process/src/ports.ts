/** Ports of this machine, for programs that listen on 127.0.0.1. */
import { readFileSync, statSync } from "node:fs"
import { createServer } from "node:net"
import { endianness } from "node:os"
import { Effect } from "effect"
import { statusIn } from "./identity.ts"

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

const textOf = (file: string): string => {
  try {
    return readFileSync(file, "utf8")
  } catch {
    return ""
  }
}

/** A server of this machine that listens on 127.0.0.1 as long as it runs. */
export interface OwnServer {
  readonly pid: number
  /** Of whom one runs it. */
  readonly users: ReadonlyArray<number>
}

/**
 * A server whose private description names its owner: that one may run it, or this user. Whoever may read the description of
 * another user, such as root, may talk to theirs. Undefined: the description names nobody, or the system knows no users.
 */
export const ownServer = (pid: number, owner: number | undefined): OwnServer | undefined => {
  const own = process.getuid?.()
  return own === undefined || owner === undefined ? undefined : { pid, users: [own, owner] }
}

const strangerAt = (port: number, users: ReadonlyArray<number>): number | undefined =>
  ["/proc/net/tcp", "/proc/net/tcp6"]
    .flatMap((file) => usersAt(textOf(file), port))
    .find((user) => !users.includes(user))

/** When the process of one of the users was started; undefined when it has ended, or is another's. */
const runsSince = ({ pid, users }: OwnServer): string | undefined => {
  const user = statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid
  const { start, state } = statusIn(textOf(`/proc/${pid}/stat`))
  return user === undefined || !users.includes(user) || state === "Z" || state === "X" ? undefined : start
}

/**
 * Called before one connects to the server's port of 127.0.0.1. What it gives is called once one is connected, at once, so that
 * nothing can come from the other end meanwhile: a user who is none of the server's and has a process at the port; undefined if
 * there is none, or where the system does not tell (macOS). Exact: the server has run all the time; else, whoever listened when
 * one connected listens still, or has accepted the connection, or it is broken. The tables of the system cost milliseconds.
 */
export const watchPort = (port: number, server: OwnServer): (() => number | undefined) => {
  const before = runsSince(server)
  return () => (before !== undefined && runsSince(server) === before ? undefined : strangerAt(port, server.users))
}

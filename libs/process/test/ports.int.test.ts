import { spawn, spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { createServer } from "node:net"
import { endianness } from "node:os"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { freePort, watchPort } from "../src/index.ts"
import { usersAt } from "../src/ports.ts"

const mine = 1000
const other = 65534
const onLoopback = "0100007F"

/** A line of `/proc/net/tcp`. Port 40000. */
const line = (local: string, state: string, user: number, inode: number, port = "9C40", remotePort = "A4E6") =>
  `   5: ${local}:${port} 0100007F:${remotePort} ${state} 00000000:00000001 00:00000000 00000000 ${String(user).padStart(5)}        0 ${inode} 2 0000000000000000 100 0 0 10 0`

const heading = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode"

describe.runIf(endianness() === "LE")("the users at a port of 127.0.0.1", () => {
  it.each([
    ["who listens there", [line(onLoopback, "0A", other, 7)], [other]],
    ["who listens at all addresses", [line("00000000", "0A", other, 7)], [other]],
    ["who listens at all addresses of IPv6", [line("0".repeat(32), "0A", other, 7)], [other]],
    ["who listens there by IPv6", [line("0000000000000000FFFF00000100007F", "0A", other, 7)], [other]],
    [
      "who has accepted a connection, also one that is half closed, and listens no more",
      [line(onLoopback, "01", other, 8), line(onLoopback, "05", other, 9), line(onLoopback, "0A", mine, 7)],
      [other, other, mine]
    ],
    ["not of a connection that nobody has accepted", [line(onLoopback, "01", 0, 0)], []],
    ["not who has another port", [line(onLoopback, "0A", other, 7, "9C41")], []],
    ["not who has the port at another address", [line("0100000A", "01", other, 7)], []],
    ["not who has connected to it", [line(onLoopback, "01", other, 7, "A4E6", "9C40")], []]
  ])("are %s", (_, lines, users) => assert.deepStrictEqual(usersAt([heading, ...lines, ""].join("\n"), 40_000), users))
})

describe.runIf(process.platform === "linux" && readFileSync("/proc/net/tcp", "utf8") !== "")(
  "a stranger at a port",
  () => {
    it.live(
      "is found while they listen, unless they are one of those who may, or the server has run all the time",
      () =>
        Effect.gen(function* () {
          const user = process.getuid?.() ?? 0
          const port = yield* freePort
          const ended = spawnSync("/bin/true").pid
          const beside = (pid: number, ...users: ReadonlyArray<number>) => watchPort(port, { pid, users })()
          assert.isUndefined(beside(ended, user + 1), "nobody listens")
          yield* Effect.acquireRelease(
            Effect.callback<ReturnType<typeof createServer>>((resume) => {
              const server = createServer()
              server.listen(port, "127.0.0.1", () => resume(Effect.succeed(server)))
            }),
            (server) => Effect.sync(() => server.close())
          )
          assert.strictEqual(beside(ended, user + 1), user)
          assert.isUndefined(beside(ended, user + 1, user))
          assert.strictEqual(beside(process.pid, user + 1), user, "another user's process is not the server")
          // A server that ends while one connects, for whom somebody else may listen already.
          const users = [user]
          const server = spawn("/bin/cat", { stdio: "pipe" })
          const strangerThere = watchPort(port, { pid: server.pid ?? 0, users })
          users[0] = user + 1
          const during = watchPort(port, { pid: server.pid ?? 0, users: [user] })
          assert.isUndefined(during())
          server.stdin.end()
          yield* Effect.callback<void>((resume) => void server.once("exit", () => resume(Effect.void)))
          assert.strictEqual(strangerThere(), user)
        }).pipe(Effect.scoped)
    )
  }
)

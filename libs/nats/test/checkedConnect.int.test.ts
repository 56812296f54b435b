/** What a client says to whoever listens at the port of its server: nothing, if that is another user. */
import { createServer, type Socket } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, Stream } from "effect"
import { Nats, type NatsOptions } from "../src/index.ts"
import { waitUntil } from "./harness.ts"

interface Heard {
  readonly socket: Socket
  text: string
  closed: boolean
}

/** Somebody who has taken the port of a server: asks for a login, and says that everything is well. */
const pretender = Effect.acquireRelease(
  Effect.callback<{ readonly url: string; readonly heard: Array<Heard>; readonly close: () => void }>((resume) => {
    const heard: Array<Heard> = []
    const server = createServer((socket) => {
      const connection: Heard = { socket, text: "", closed: false }
      heard.push(connection)
      socket.on("error", () => undefined)
      socket.on("close", () => {
        connection.closed = true
      })
      socket.on("data", (data) => {
        connection.text += data.toString()
        for (const _ of data.toString().matchAll(/PING\r\n/g)) socket.write("PONG\r\n")
      })
      const info = { server_id: "N", version: "2.11.0", proto: 1, headers: true, max_payload: 1024, nonce: "nonce" }
      socket.write(`INFO ${JSON.stringify({ ...info, auth_required: true })}\r\n`)
    })
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      resume(Effect.succeed({ url: `nats://127.0.0.1:${port}`, heard, close: () => void server.close() }))
    })
  }),
  ({ close }) => Effect.sync(close)
)

const password = "only for the server"
const login = { _tag: "UserPassword", user: "reprise", password: Redacted.make(password) } as const
const own = process.getuid?.() ?? 0

const connected = (url: string, users: ReadonlyArray<number>) => {
  const ownServer = { pid: process.pid, users }
  const options: NatsOptions = { url, name: "test", credentials: login, reconnectWaitMs: 10, ownServer }
  return Nats.make(options)
}

describe.runIf(process.platform === "linux")("a client whose server is of certain users", () => {
  it.live("says nothing to another user's process that listens there, and names its user", () =>
    Effect.gen(function* () {
      const { heard, url } = yield* pretender
      const error = yield* Effect.flip(connected(url, [own + 1]))
      assert.strictEqual(error._tag, "BrokerUnreachable")
      assert.include(error.message, `a process of user ${own} listens`)
      yield* waitUntil(Effect.sync(() => heard.length > 0 && heard.every(({ closed }) => closed)))
      assert.deepStrictEqual(new Set(heard.map(({ text }) => text)), new Set([""]))
    }).pipe(Effect.scoped)
  )

  it.live("says nothing there when it connects again either, and waits for its own", () =>
    Effect.gen(function* () {
      const { heard, url } = yield* pretender
      const users = [own]
      const nats = yield* connected(url, users)
      assert.include(heard[0]?.text ?? "", password)
      users[0] = own + 1
      heard[0]?.socket.destroy()
      yield* waitUntil(Effect.sync(() => heard.slice(1).filter(({ closed }) => closed).length >= 3))
      assert.deepStrictEqual(new Set(heard.slice(1).map(({ text }) => text)), new Set([""]))
      users[0] = own
      yield* nats.statusChanges.pipe(
        Stream.filter((status) => status === "connected"),
        Stream.runHead
      )
      assert.include(heard.at(-1)?.text ?? "", password)
    }).pipe(Effect.scoped)
  )
})

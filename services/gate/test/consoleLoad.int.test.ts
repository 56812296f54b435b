import { connect } from "node:net"
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { limits } from "../src/console/limits.ts"
import { openWith, world } from "./support/consoleOverMemory.ts"
import { requestText, sendRaw } from "./support/rawHttp.ts"

/** So many requests, and never more. */
const only = (burst: number) => ({ burst, perSecond: 1e-6, mostWaiting: 0 })
const soon = { refusalAfterMs: 1 }
const unlimited = { burst: 1e9, perSecond: 1e9, mostWaiting: 0 }

/** A connection that stays open. `ask` gives what came since, once it holds a text. */
const open = (port: number) =>
  Effect.acquireRelease(
    Effect.callback<{
      readonly ask: (bytes: string, until: string) => Effect.Effect<string>
      readonly write: (bytes: string) => void
      readonly close: () => void
      readonly text: () => string
      readonly until: (text: string) => Effect.Effect<void>
      readonly isClosed: () => boolean
      readonly closed: Effect.Effect<void>
    }>((resume) => {
      const socket = connect(port, "127.0.0.1")
      let text = ""
      let seen = () => {}
      let isClosed = false
      socket.on("error", () => undefined)
      socket.setEncoding("latin1").on("data", (part) => {
        text += part
        seen()
      })
      socket.on("close", () => {
        isClosed = true
        seen()
      })
      const awaited = (isThere: () => boolean) =>
        Effect.callback<void>((done) => {
          seen = () => {
            if (isThere()) done(Effect.void)
          }
          seen()
        })
      const ask = (bytes: string, until: string) =>
        Effect.gen(function* () {
          text = ""
          socket.write(bytes)
          yield* awaited(() => text.includes(until) || isClosed)
          return text
        })
      const made = {
        ask,
        write: (bytes: string) => void socket.write(bytes),
        close: () => void socket.destroy(),
        text: () => text,
        until: (wanted: string) => awaited(() => text.includes(wanted) || isClosed),
        isClosed: () => isClosed,
        closed: awaited(() => isClosed),
        socket
      }
      socket.on("connect", () => resume(Effect.succeed(made)))
    }),
    (made) => Effect.sync(() => "socket" in made && (made.socket as ReturnType<typeof connect>).destroy())
  )

describe("a client that asks the console for too much", () => {
  layer(world, { excludeTestServices: true, timeout: "5 minutes" })("over a broker in memory", (it) => {
    it.effect("is told when to come back, and locks nobody out who is signed in", () =>
      Effect.gen(function* () {
        const { port, send, signIn } = yield* openWith({ limits: { ...soon, signedOut: only(4) } })
        const session = yield* signIn
        for (const status of [401, 401, 401, 429, 429, 429]) {
          const reply = yield* send("GET", "/api/events")
          assert.strictEqual(reply.status, status)
          if (status !== 429) continue
          assert.match(`${reply.headers["retry-after"]}`, /^\d+$/)
          assert.include(reply.text, '{"ok":false,"error":{"code":"too-many-requests","message":"There are')
          assert.strictEqual(reply.headers["cache-control"], "no-store")
          assert.isDefined(reply.headers["content-security-policy"])
        }
        assert.strictEqual((yield* send("GET", "/assets/main-abc.js")).status, 429)
        assert.strictEqual((yield* send("GET", "/assets/main-abc.js", { "x-reprise-session": session })).status, 200)
        assert.strictEqual((yield* send("GET", "/api/questions", { "x-reprise-session": session })).status, 200)
        const forged = { "x-reprise-session": `${session.slice(0, -3)}AAA` }
        assert.strictEqual((yield* send("GET", "/api/questions", forged)).status, 429)
        assert.strictEqual((yield* sendRaw(port, requestText("GET", "/%zz", { host: "x" })))?.status, 429)
      })
    )

    it.effect("has a budget of its own when signed in, by token or by the name that a proxy gives", () =>
      Effect.gen(function* () {
        const proxy = { userHeader: "remote-user", answerers: [] }
        const viewerToken = "the token of viewers"
        const { own, send, signIn, signInWith } = yield* openWith({
          proxy,
          viewerToken: Redacted.make(viewerToken),
          limits: { ...soon, signedIn: only(2) }
        })
        const clients = [
          { "x-reprise-session": yield* signIn },
          { "x-reprise-session": yield* signInWith(viewerToken) },
          { "remote-user": "a" },
          { "remote-user": "b" }
        ]
        for (const client of clients) {
          const statuses = []
          for (let n = 0; n < 3; n++) statuses.push((yield* send("GET", "/api/session", client)).status)
          assert.deepStrictEqual(statuses, [200, 200, 429], JSON.stringify(client))
        }
        // To sign in again brings nothing more.
        assert.strictEqual(
          (yield* send("GET", "/api/session", { ...own, "x-reprise-session": yield* signIn })).status,
          429
        )
      })
    )

    it.effect("has so many sessions of one token: the next one ends the oldest, and none of another token", () =>
      Effect.gen(function* () {
        const viewerToken = "the token of viewers"
        const { send, signIn, signInWith } = yield* openWith({
          viewerToken: Redacted.make(viewerToken),
          limits: { sessions: 2 }
        })
        const statusWith = (session: string) =>
          Effect.map(send("GET", "/api/session", { "x-reprise-session": session }), ({ status }) => status)
        const other = yield* signInWith(viewerToken)
        assert.strictEqual(yield* statusWith(other), 200)
        const sessions = []
        for (let n = 0; n < 3; n++) {
          sessions.push(yield* signIn)
          assert.strictEqual(yield* statusWith(sessions[n] ?? ""), 200)
        }
        const statuses = yield* Effect.forEach([...sessions, other], statusWith)
        assert.deepStrictEqual(statuses, [401, 200, 200, 200])
      })
    )

    it.effect("is signed out for good: whoever has the session is not in any more, and other sessions are", () =>
      Effect.gen(function* () {
        const { own, send, signIn } = yield* openWith({})
        const [session, other] = [yield* signIn, yield* signIn]
        const statusWith = (one: string) =>
          Effect.map(send("GET", "/api/session", { "x-reprise-session": one }), ({ status }) => status)
        assert.strictEqual(
          (yield* send("DELETE", "/api/session", { ...own, "x-reprise-session": session })).status,
          204
        )
        assert.deepStrictEqual([yield* statusWith(session), yield* statusWith(other)], [401, 200])
      })
    )

    it.effect(
      "hears nothing more when it signs out or makes room for another session, by any stream of the session",
      () =>
        Effect.gen(function* () {
          const { own, port, send, signIn } = yield* openWith({ limits: { sessions: 2 } })
          const [session, other] = [yield* signIn, yield* signIn]
          const follow = Effect.fnUntraced(function* (path: string, until: string, as: string) {
            const stream = yield* open(port)
            const asked = requestText("GET", path, { host: `127.0.0.1:${port}`, "x-reprise-session": as })
            assert.include(yield* stream.ask(asked, until), "HTTP/1.1 200")
            return stream
          })
          const ended = [
            yield* follow("/api/events", "event: connected", session),
            yield* follow("/api/live?run=a", "event: listening", session),
            yield* follow("/api/runs/a/live", "event: listening", session)
          ]
          const kept = yield* follow("/api/events", "event: connected", other)
          assert.strictEqual(
            (yield* send("DELETE", "/api/session", { ...own, "x-reprise-session": session })).status,
            204
          )
          yield* Effect.forEach(ended, ({ closed }) => closed)
          assert.isFalse(kept.isClosed())
          for (const next of [yield* signIn, yield* signIn])
            assert.strictEqual((yield* send("GET", "/api/session", { "x-reprise-session": next })).status, 200)
          yield* kept.closed
        })
    )

    it.effect("has so many answers under way, and the next one waits for one of them, while others are served", () =>
      Effect.gen(function* () {
        const viewerToken = "the token of viewers"
        const { own, port, send, signIn, signInWith } = yield* openWith({
          viewerToken: Redacted.make(viewerToken),
          limits: { underWay: { signedIn: 1, signedOut: 1 } }
        })
        const session = yield* signIn
        const viewer = yield* signInWith(viewerToken)
        const headers = { ...own, host: `127.0.0.1:${port}`, connection: "keep-alive", "x-reprise-session": session }
        const served = Effect.map(send("GET", "/api/session", { "x-reprise-session": viewer }), ({ status }) => status)
        // A body that has not come takes no place.
        const slow = yield* open(port)
        slow.write(requestText("POST", "/api/plans/dry-run", { ...headers, "content-length": "2" }))
        assert.strictEqual(yield* served, 200)
        assert.strictEqual((yield* send("GET", "/api/session", { "x-reprise-session": session })).status, 200)
        const [long, next] = [yield* open(port), yield* open(port)]
        long.write(requestText("POST", "/api/plans/dry-run", headers, '{"plan":"NEVER.md"}'))
        // What was sent before has been read when a later request is answered.
        assert.strictEqual(yield* served, 200)
        next.write(requestText("GET", "/api/session", headers))
        for (let n = 0; n < 3; n++) assert.strictEqual(yield* served, 200)
        assert.strictEqual(next.text(), "")
        long.close()
        yield* next.until('"ok":true')
      })
    )

    it.effect("is cut off when it sends more before it was answered, and nothing of that is done", () =>
      Effect.gen(function* () {
        const { port, send, signIn } = yield* openWith({
          limits: { signedOut: only(2), refusalAfterMs: 600_000, streams: 2 }
        })
        const session = yield* signIn
        const host = `127.0.0.1:${port}`
        const one = (path: string, more = {}) => requestText("GET", path, { host, connection: "keep-alive", ...more })
        const stranger = yield* open(port)
        assert.include(yield* stranger.ask(one("/api/runs"), "signed-out"), "HTTP/1.1 401")
        assert.strictEqual(yield* stranger.ask(one("/api/runs").repeat(1_000), "no such text"), "")
        const reader = yield* open(port)
        yield* reader.ask(one("/api/events", { "x-reprise-session": session }).repeat(100), "no such text")
        yield* reader.closed
        const streams = Effect.map(
          send("HEAD", "/api/events", { "x-reprise-session": session }),
          ({ status }) => status
        )
        yield* Effect.repeat(streams, { until: (status) => status === 200 })
      })
    )

    it.effect("has so many event streams, and a new one when it has closed one", () =>
      Effect.gen(function* () {
        const viewerToken = "the token of viewers"
        const { port, send, signIn, signInWith } = yield* openWith({
          viewerToken: Redacted.make(viewerToken),
          limits: { ...soon, streams: 2 }
        })
        const session = yield* signIn
        const other = yield* signInWith(viewerToken)
        const stream = (path: string, until: string, as = session) =>
          Effect.gen(function* () {
            const { ask } = yield* open(port)
            return yield* ask(requestText("GET", path, { host: `127.0.0.1:${port}`, "x-reprise-session": as }), until)
          })
        yield* Effect.gen(function* () {
          assert.include(yield* stream("/api/events", "event: connected"), "200 OK")
          assert.include(yield* stream("/api/live?run=a", "event: listening"), "200 OK")
          const third = yield* send("GET", "/api/events", { "x-reprise-session": session })
          assert.deepStrictEqual([third.status, third.text.includes("too-many-streams")], [429, true])
          assert.isDefined(third.headers["retry-after"])
          assert.include(yield* stream("/api/runs/r1/live", "event: listening", other), "200 OK")
          assert.strictEqual((yield* send("GET", "/api/session", { "x-reprise-session": session })).status, 200)
        }).pipe(Effect.scoped)
        // The places come back when the server has noticed that the connections are closed.
        yield* Effect.repeat(stream("/api/events", "event: connected").pipe(Effect.scoped), {
          until: (text) => text.includes("event: connected")
        })
      })
    )

    it.effect("keeps nobody out by open connections: the oldest that nobody has signed in on makes room", () =>
      Effect.gen(function* () {
        const { port, signIn } = yield* openWith({ limits: { signedOutConnections: 8 } })
        const session = yield* signIn
        const host = `127.0.0.1:${port}`
        const ask = requestText("GET", "/api/session", { host, "x-reprise-session": session, connection: "keep-alive" })
        const signedIn = yield* open(port)
        assert.include(yield* signedIn.ask(ask, '"ok":true'), "HTTP/1.1 200")
        const idle = yield* Effect.forEach(Array.from({ length: 40 }), () => open(port))
        for (const one of idle.slice(0, 32)) yield* one.closed
        assert.include(yield* signedIn.ask(ask, '"ok":true'), "HTTP/1.1 200")
        const last = idle.at(-1) ?? assert.fail("none is open")
        assert.include(yield* last.ask(ask, '"ok":true'), "HTTP/1.1 200")
      })
    )

    it.effect(
      "keeps nobody out by connections on which it is signed in, however many and however often it signs in",
      () =>
        Effect.gen(function* () {
          const viewerToken = "the token of viewers"
          const { port, signIn, signInWith } = yield* openWith({
            viewerToken: Redacted.make(viewerToken),
            limits: { signedIn: unlimited, connections: 24, signedOutConnections: 8 }
          })
          const host = `127.0.0.1:${port}`
          const asked = (path: string, session: string) =>
            requestText("GET", path, { host, "x-reprise-session": session, connection: "keep-alive" })
          const ada = yield* signIn
          const early = yield* open(port)
          yield* early.ask(asked("/api/session", ada), '"ok":true')
          const stream = yield* open(port)
          yield* stream.ask(asked("/api/events", yield* signInWith(viewerToken)), "event: connected")
          const flood = []
          for (let n = 0; n < 60; n++) {
            const one = yield* open(port)
            const session = yield* signInWith(viewerToken)
            assert.include(yield* one.ask(asked("/api/session", session), '"ok":true'), "HTTP/1.1 200")
            flood.push(one)
          }
          // There is room for 16, of which two are Ada's or a stream.
          for (const one of flood.slice(0, 60 - 14)) yield* one.closed
          for (const one of [early, yield* open(port)])
            assert.include(yield* one.ask(asked("/api/session", ada), '"ok":true'), "HTTP/1.1 200")
          assert.isFalse(stream.isClosed())
          assert.isFalse(flood.at(-1)?.isClosed() ?? true)
        })
    )

    it.effect(
      "behind a proxy is an address of its own by the secret alone, and keeps nobody out who is signed in",
      () =>
        Effect.gen(function* () {
          const secret = "the secret of the proxy"
          const { port, send, signIn } = yield* openWith({
            proxy: { answerers: [], secret: Redacted.make(secret) },
            limits: { ...soon, signedOut: only(2), signedOutConnections: 8 }
          })
          const session = yield* signIn
          const asked = (address: string, more: Readonly<Record<string, string>> = {}) =>
            Effect.map(send("GET", "/api/runs", { "x-forwarded-for": address, ...more }), ({ status }) => status)
          const proxied = { "x-reprise-proxy-secret": secret }
          for (const address of ["192.0.2.1", "10.1.1.1, 192.0.2.2", "2001:db8::1"]) {
            const statuses = []
            for (let n = 0; n < 3; n++) statuses.push(yield* asked(address, proxied))
            assert.deepStrictEqual(statuses, [401, 401, 429], address)
          }
          // What a client says before the proxy's own word is nothing, and neither is anything that the proxy has not sent.
          assert.strictEqual(yield* asked("203.0.113.9, 192.0.2.1", proxied), 429)
          const statuses = []
          for (const more of [{}, {}, { "x-reprise-proxy-secret": `${secret}!` }])
            statuses.push(yield* asked(`203.0.113.${statuses.length}`, more))
          assert.strictEqual(statuses.at(-1), 429)
          const flood = yield* Effect.forEach(Array.from({ length: 40 }), () => open(port))
          const host = `127.0.0.1:${port}`
          for (const one of flood)
            one.write(requestText("GET", "/api/runs", { host, connection: "keep-alive", ...proxied }))
          const { status } = yield* send("GET", "/api/session", {
            "x-forwarded-for": "192.0.2.1",
            ...proxied,
            "x-reprise-session": session
          })
          assert.strictEqual(status, 200)
        })
    )

    it.effect("has only so long to send a request", () =>
      Effect.gen(function* () {
        const patience = { ...limits.patience, headersMs: 100, requestMs: 100 }
        const { own, port, signIn } = yield* openWith({ limits: { patience } })
        const session = yield* signIn
        const host = `127.0.0.1:${port}`
        const head = requestText("POST", "/api/plans/dry-run", {
          ...own,
          host,
          "x-reprise-session": session,
          "content-length": "1000"
        })
        for (const bytes of ["", "GET / HTTP/1.1\r\nhost: x\r\n", `${head}{`]) {
          const reply = yield* sendRaw(port, bytes)
          assert.strictEqual(reply?.status, 408, bytes)
          assert.isDefined(reply?.headers["content-security-policy"])
        }
      })
    )

    it.effect("has only so long to take an answer, and none of its places after that", () =>
      Effect.gen(function* () {
        const patience = { ...limits.patience, answerMs: 100 }
        const { own, port, send, signIn } = yield* openWith({
          limits: { patience, underWay: { signedIn: 1, signedOut: 1 } }
        })
        const session = yield* signIn
        const slow = yield* open(port)
        const headers = { ...own, host: `127.0.0.1:${port}`, "x-reprise-session": session }
        slow.write(requestText("POST", "/api/plans/dry-run", headers, '{"plan":"NEVER.md"}'))
        yield* slow.closed
        assert.strictEqual((yield* send("GET", "/api/session", { "x-reprise-session": session })).status, 200)
      })
    )
  })
})

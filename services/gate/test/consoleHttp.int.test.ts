/** What the console answers to requests that no browser sends, as bytes on a socket, with a session that is valid. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { allRoutes, filledIn } from "./support/allRoutes.ts"
import { openWith, raise, world } from "./support/consoleOverMemory.ts"
import { type RawReply, requestText, sendRaw } from "./support/rawHttp.ts"

const unlimited = { burst: 1e9, perSecond: 1e9, mostWaiting: 0 }
const withoutLimits = { limits: { signedIn: unlimited, signedOut: unlimited, allSignedOut: unlimited } }

interface Own {
  /** Headers of the console's own name, its own page, and a valid session. */
  readonly host: string
  readonly origin: string
  readonly session: string
}

interface Row {
  readonly what: string
  /** The lines of the request, or all of it. */
  readonly request: (own: Own) => ReadonlyArray<string> | string
  /** Of the last answer; `none`: the connection is closed without one. */
  readonly status: number | "none"
}

const read = "GET /api/session HTTP/1.1"
const read10 = "GET /api/session HTTP/1.0"
const upgrade = "connection: upgrade"
const body = '{"plan":"PLAN.md"}'
const write = ({ session, host, origin }: Own, ...more: ReadonlyArray<string>) => [
  "POST /api/plans/dry-run HTTP/1.1",
  host,
  origin,
  session,
  "content-type: application/json",
  ...more
]
const right = "content-length: 18"
const chunked = "transfer-encoding: chunked"
const chunk = `${body.length.toString(16)}\r\n${body}\r\n0\r\n`
const bytes = (lines: ReadonlyArray<string>, rest = "") =>
  `${[...lines, "connection: close"].join("\r\n")}\r\n\r\n${rest}`

const rows: ReadonlyArray<Row> = [
  { what: "one of HTTP/1.0", request: ({ session, host }) => [read10, host, session], status: 200 },
  { what: "one of HTTP/1.0 without a host", request: ({ session }) => [read10, session], status: 421 },
  { what: "one of HTTP/0.9", request: () => "GET /api/session\r\n\r\n", status: 421 },
  { what: "the preface of HTTP/2", request: () => "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", status: 400 },
  {
    what: "a wish for another protocol",
    request: ({ session, host }) => bytes([read, host, session, upgrade, "upgrade: h2c"]),
    status: 200
  },
  {
    what: "a wish for a websocket",
    request: ({ session, host }) => bytes([read, host, session, upgrade, "upgrade: websocket", "sec-websocket-key: x"]),
    status: 200
  },
  {
    what: "TRACE, which would repeat the session",
    request: ({ session, host, origin }) => ["TRACE /api/session HTTP/1.1", host, origin, session],
    status: 415
  },
  {
    what: "CONNECT to another server",
    request: ({ session, host }) => ["CONNECT 127.0.0.1:22 HTTP/1.1", host, session],
    status: "none"
  },
  {
    what: "its own address in full",
    request: ({ session, host }) => [`GET http://${host.slice(6)}/api/session HTTP/1.1`, host, session],
    status: 200
  },
  {
    what: "another address in full",
    request: ({ session, host }) => ["GET http://evil.example/api/session HTTP/1.1", host, session],
    status: 421
  },
  {
    what: "a star as the address",
    request: ({ session, host, origin }) => ["OPTIONS * HTTP/1.1", host, origin, session],
    status: 415
  },
  { what: "no host", request: ({ session }) => [read, session], status: 421 },
  {
    what: "another host, as after DNS rebinding",
    request: ({ session, host }) => [read, `host: evil.example:${host.split(":")[2]}`, session],
    status: 421
  },
  {
    what: "another host that begins with its own",
    request: ({ session, host }) => [read, `${host}@evil.example`, session],
    status: 421
  },
  { what: "two hosts", request: ({ session, host }) => [read, host, "host: evil.example", session], status: 421 },
  { what: "its own host twice", request: ({ session, host }) => [read, host, host, session], status: 421 },
  { what: "two lengths of one value", request: (own) => bytes(write(own, right, right), body), status: 400 },
  { what: "two lengths", request: (own) => bytes(write(own, right, "content-length: 5"), body), status: 400 },
  { what: "a length with a sign", request: (own) => bytes(write(own, "content-length: +18"), body), status: 400 },
  {
    what: "a length and chunks",
    request: (own) => bytes(write(own, right, chunked), `${chunk}\r\n`),
    status: 400
  },
  {
    what: "a blank before the colon of an encoding",
    request: (own) => bytes(write(own, right, "transfer-encoding : chunked"), body),
    status: 400
  },
  {
    what: "an encoding that nobody knows",
    request: (own) => bytes(write(own, "transfer-encoding: xchunked"), `${chunk}\r\n`),
    status: 411
  },
  {
    what: "chunks in chunks",
    request: (own) => bytes(write(own, "transfer-encoding: chunked, chunked"), `${chunk}\r\n`),
    status: 400
  },
  {
    what: "chunks that something follows",
    request: (own) => bytes(write(own, "transfer-encoding: chunked, identity"), `${chunk}\r\n`),
    status: 400
  },
  {
    what: "chunks and trailers",
    request: (own) => bytes(write(own, chunked, "trailer: x"), `${chunk}x: y\r\n\r\n`),
    status: 411
  },
  {
    what: "a trailer that says another host",
    request: (own) => bytes(write(own, chunked), `${chunk}host: evil.example\r\n\r\n`),
    status: 411
  },
  {
    what: "a session in a trailer",
    request: ({ session, host }) =>
      bytes([read, host, chunked, "trailer: x-reprise-session"], `0\r\n${session}\r\n\r\n`),
    status: 411
  },
  {
    what: "10 000 trailers",
    request: (own) => bytes(write(own, chunked), `${chunk}${"x: y\r\n".repeat(10_000)}\r\n`),
    status: 411
  },
  {
    what: "extensions of chunks without end",
    request: (own) => bytes(write(own, chunked), `12;${"x".repeat(20_000)}\r\n${body}\r\n0\r\n\r\n`),
    status: 411
  },
  { what: "chunks of a whole body", request: (own) => bytes(write(own, chunked), `${chunk}\r\n`), status: 411 },
  {
    what: "chunks after an expectation",
    request: (own) => bytes(write(own, chunked, "expect: 100-continue"), `${chunk}\r\n`),
    status: 411
  },
  {
    what: "chunks after an expectation that nobody knows",
    request: (own) => bytes(write(own, chunked, "expect: 200-ok"), `${chunk}\r\n`),
    status: 411
  },
  {
    what: "chunks and a wish for another protocol",
    request: (own) => bytes(write(own, chunked, upgrade, "upgrade: h2c"), `${chunk}\r\n`),
    status: 411
  },
  {
    what: "chunks that a stranger reads with",
    request: ({ host }) => bytes(["GET / HTTP/1.1", host, chunked], "0\r\n\r\n"),
    status: 411
  },
  {
    what: "an encoding without a name",
    request: (own) => bytes(write(own, "transfer-encoding:", right), body),
    status: 400
  },
  {
    what: "an encoding behind 2 001 headers",
    request: (own) => bytes(write(own, ...Array.from({ length: 2_001 }, () => "a:"), chunked), `${chunk}\r\n`),
    status: 431
  },
  {
    what: "an expectation",
    request: (own) => bytes(write(own, right, "expect: 100-continue"), body),
    status: 200
  },
  {
    what: "an expectation that nobody knows",
    request: (own) => bytes(write(own, right, "expect: 200-ok"), body),
    status: 200
  },
  {
    what: "an expectation of a stranger",
    request: ({ host, origin }) => bytes(write({ host, origin, session: "a: b" }, right, "expect: 100-continue"), body),
    status: 401
  },
  {
    what: "10 000 headers",
    request: ({ session, host }) => [read, host, session, ...Array.from({ length: 10_000 }, (_, n) => `a${n}: b`)],
    status: 431
  },
  {
    what: "a foreign page's mark behind 2 001 headers",
    request: ({ session, host }) => [
      read,
      host,
      session,
      ...Array.from({ length: 2_001 }, () => "a:"),
      "sec-fetch-site: cross-site"
    ],
    status: 431
  },
  { what: "a line that goes on", request: ({ session, host }) => [read, host, "x: a", ` ${session}`], status: 400 },
  {
    what: "line feeds alone",
    request: ({ session, host }) => `${read}\n${host}\n${session}\nconnection: close\n\n`,
    status: 400
  },
  { what: "a carriage return inside", request: ({ session, host }) => [read, host, `x: a\r${session}`], status: 400 },
  { what: "a NUL", request: ({ session, host }) => [read, host, "x: a\0b", session], status: 400 },
  {
    what: "a session of 15 KB",
    request: ({ host }) => [read, host, `x-reprise-session: ${"x".repeat(15_000)}`],
    status: 401
  },
  {
    what: "a session of 17 KB",
    request: ({ host }) => [read, host, `x-reprise-session: ${"x".repeat(17_000)}`],
    status: 431
  },
  {
    what: "its session in a cookie",
    request: ({ host, session }) => [read, host, session.replace("x-reprise-session: ", "cookie: session=")],
    status: 401
  },
  {
    what: "its session as a password",
    request: ({ host, session }) => [read, host, session.replace("x-reprise-session: ", "authorization: Bearer ")],
    status: 401
  },
  {
    what: "its session in the address",
    request: ({ host, session }) => [`GET /api/session?${session.replace(": ", "=")} HTTP/1.1`, host],
    status: 401
  },
  { what: "its session twice", request: ({ host, session }) => [read, host, session, session], status: 401 },
  {
    what: "another session beside its own",
    request: ({ host, session }) => [read, host, session, "x-reprise-session: x"],
    status: 401
  },
  {
    what: "another method in a header",
    request: ({ session, host, origin }) =>
      bytes(
        [
          "POST /api/session HTTP/1.1",
          host,
          origin,
          session,
          "content-type: application/json",
          "x-http-method-override: DELETE",
          "content-length: 2"
        ],
        "{}"
      ),
    status: 400
  },
  {
    what: "a script of another site",
    request: ({ session, host }) => [read, host, session, "sec-fetch-site: cross-site", "sec-fetch-dest: script"],
    status: 403
  },
  {
    what: "a page of another port of this machine",
    request: ({ session, host }) => [read, host, session, "sec-fetch-site: same-site"],
    status: 403
  },
  {
    what: "a request of another origin",
    request: ({ session, host }) => [read, host, session, "origin: http://evil.example"],
    status: 403
  },
  {
    what: "a request of no origin",
    request: ({ session, host }) => [read, host, session, "origin: null"],
    status: 403
  },
  { what: "two origins", request: ({ session, host, origin }) => [read, host, session, origin, origin], status: 403 }
]

/** The last answer: one may announce that the body is awaited. */
const lastOf = (reply: RawReply | undefined): RawReply | undefined => {
  if (reply?.status !== 100) return reply
  const [head = "", ...rest] = reply.body.split("\r\n\r\n")
  const headers = head
    .split("\r\n")
    .slice(1)
    .map((line) => line.split(": "))
  return { status: Number(head.split(" ")[1]), headers: Object.fromEntries(headers), body: rest.join("\r\n\r\n") }
}

const ownOf = (port: number, session: string): Own => ({
  host: `host: 127.0.0.1:${port}`,
  origin: `origin: http://127.0.0.1:${port}`,
  session: `x-reprise-session: ${session}`
})

describe("the console, asked by hand", () => {
  layer(world, { excludeTestServices: true, timeout: "2 minutes" })("over a broker in memory", (it) => {
    it.effect.each(rows)("answers $status to $what", ({ request, status }) =>
      Effect.gen(function* () {
        const { port, signIn } = yield* openWith(withoutLimits)
        const session = yield* signIn
        const asked = request(ownOf(port, session))
        const reply = lastOf(yield* sendRaw(port, typeof asked === "string" ? asked : bytes(asked)))
        assert.strictEqual(reply?.status ?? "none", status, reply?.body)
        if (reply === undefined) return
        assert.notInclude(JSON.stringify(reply), session)
        assert.strictEqual(reply.headers["cache-control"], "no-store")
        assert.strictEqual(reply.headers["x-content-type-options"], "nosniff")
        assert.strictEqual(reply.headers["cross-origin-resource-policy"], "same-origin")
        for (const name of Object.keys(reply.headers)) assert.notMatch(name, /^access-control-/)
        // A page of another site that loads it as a script gets no value of it: it is one object, and no list.
        assert.match(reply.body, /^\{"ok":(?:true,"data"|false,"error"):/)
      })
    )

    it.effect("answers one request of a connection at a time, and nothing that comes before the answer", () =>
      Effect.gen(function* () {
        const { port, signIn } = yield* openWith(withoutLimits)
        const { session, host } = ownOf(port, yield* signIn)
        const one = (path: string) => `GET ${path} HTTP/1.1\r\n${host}\r\n${session}\r\n\r\n`
        const reply = yield* sendRaw(port, `${one("/api/session")}${one("/api/questions")}${one("/api/settings")}`)
        assert.notInclude(reply?.body ?? "", "reprise.toml")
        assert.notInclude(reply?.body ?? "", "wrong-host")
        // What stands in a body is not a request.
        const hidden = "GET /api/settings HTTP/1.1\r\nx: y\r\n\r\n"
        const within = `GET /api/session HTTP/1.1\r\n${host}\r\n${session}\r\nconnection: close\r\ncontent-length: ${hidden.length}\r\n\r\n${hidden}`
        assert.strictEqual(
          (yield* sendRaw(port, within))?.body,
          '{"ok":true,"data":{"role":"answerer","hasRepository":true}}'
        )
      })
    )

    it.effect("changes nothing by any route for a page that is not its own, whatever session is sent with it", () =>
      Effect.gen(function* () {
        const { own, port, send, signIn } = yield* openWith(withoutLimits)
        const question = yield* raise
        const session = yield* signIn
        const routes = (yield* allRoutes).filter(({ method }) => method !== "GET")
        assert.isAtLeast(routes.length, 14)
        const { origin, ...json } = own
        const foreign: ReadonlyArray<readonly [number, Readonly<Record<string, string>>]> = [
          [403, json],
          [403, { ...json, origin: "http://evil.example" }],
          [403, { ...json, origin: "null" }],
          [403, { ...json, origin: `http://127.0.0.1:${port + 1}` }],
          [403, { ...json, origin: `https://127.0.0.1:${port}` }],
          [403, { ...json, origin: `${origin}.evil.example` }],
          [403, { ...json, origin, "sec-fetch-site": "cross-site" }],
          [403, { ...json, origin, "sec-fetch-site": "same-site" }],
          [403, { ...json, origin, "sec-fetch-site": "none" }],
          [421, { ...json, origin: "http://evil.example", host: "evil.example" }],
          ...[
            "text/plain",
            "application/x-www-form-urlencoded",
            "multipart/form-data; boundary=x",
            "application/jsonp"
          ].map((type) => [415, { origin, "content-type": type }] as const)
        ]
        for (const { method, path } of routes) {
          for (const [status, headers] of foreign) {
            // Nothing is taken out of the body of a request to sign out.
            if (status === 415 && method === "DELETE") continue
            const target = filledIn({ path }, question)
            const reply = yield* send(
              method,
              target,
              { ...headers, "x-reprise-session": session },
              method === "DELETE" ? undefined : body
            )
            assert.strictEqual(reply.status, status, `${method} ${path} ${JSON.stringify(headers)}`)
            assert.isUndefined(reply.headers["set-cookie"])
          }
          const preflight = { origin: "http://evil.example", "access-control-request-method": method }
          const reply = yield* sendRaw(
            port,
            requestText("OPTIONS", filledIn({ path }, question), { host: `127.0.0.1:${port}`, ...preflight })
          )
          assert.strictEqual(reply?.status, 403, path)
          assert.notMatch(JSON.stringify(reply?.headers), /access-control-/)
        }
      })
    )
  })
})

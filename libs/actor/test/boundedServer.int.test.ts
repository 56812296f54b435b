import type { RequestListener } from "node:http"
import { connect } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Readiness } from "../src/health/Readiness.ts"
import { serveHealth } from "../src/health/serveHealth.ts"
import { createBoundedServer } from "../src/http/createBoundedServer.ts"

const refusal = "HTTP/1.1 411 Length Required\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
const chunked = "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n"
const read = "GET / HTTP/1.1\r\nhost: a\r\n\r\n"
/** As much as Node reads at once. */
const fill = (head: string, unit: string) => head + unit.repeat(Math.floor((60_000 - head.length) / unit.length))

/** What comes until the server ends the connection. */
const sent = (port: number, text: string) =>
  Effect.callback<string>((resume) => {
    let came = ""
    const socket = connect(port, "127.0.0.1", () => socket.write(text))
    socket.on("error", () => undefined)
    socket.setEncoding("latin1").on("data", (part) => {
      came += part
    })
    socket.on("close", () => resume(Effect.succeed(came)))
  })

/** A server that answers after each read, and what its parser has called it for. */
const counting = Effect.gen(function* () {
  const seen = { requests: 0, pieces: 0 }
  const server = createBoundedServer({ requireHostHeader: false }, refusal)
  const take: RequestListener = (request, response) => {
    seen.requests += 1
    request.on("data", () => {
      seen.pieces += 1
    })
    setImmediate(() => response.writeHead(200, { connection: "close" }).end("answer"))
  }
  server.on("request", take)
  server.on("checkContinue", take)
  server.on("checkExpectation", take)
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
    () => Effect.sync(() => server.close().closeAllConnections())
  )
  const bound = server.address()
  return { seen, port: typeof bound === "object" && bound !== null ? bound.port : 0 }
})

describe("a server that reads no further than the requests that it answers", () => {
  it.live.each<readonly [string, string, number]>([
    ["chunks of one byte", fill(chunked, "1\r\na\r\n"), 0],
    ["trailers", fill(`${chunked}0\r\n`, "a:b\r\n"), 0],
    ["extensions of chunks", fill(`${chunked}1;`, "a=b;"), 0],
    ["requests before an answer", fill("", read), 1],
    ["requests without a host before an answer", fill("", "GET / HTTP/1.1\r\n\r\n"), 1],
    ["expectations before an answer", fill("", "GET / HTTP/1.1\r\nexpect: 100-continue\r\n\r\n"), 1],
    ["unknown expectations before an answer", fill("", "GET / HTTP/1.1\r\nexpect: x\r\n\r\n"), 1],
    ["chunks before an answer", fill(read + chunked, "1\r\na\r\n"), 1],
    ["wishes for another protocol", fill("", "GET / HTTP/1.1\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n"), 1]
  ])("is called for nothing behind the first of %s", ([, text, requests]) =>
    Effect.gen(function* () {
      const { port, seen } = yield* counting
      yield* sent(port, text)
      assert.deepStrictEqual(seen, { requests, pieces: 0 })
    }).pipe(Effect.scoped)
  )

  it.live("answers a request with chunks with 411, and one with a length as ever", () =>
    Effect.gen(function* () {
      const { port, seen } = yield* counting
      assert.strictEqual(yield* sent(port, `${chunked}0\r\n\r\n`), refusal)
      assert.include(yield* sent(port, "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n{}"), "answer")
      assert.deepStrictEqual(seen, { requests: 1, pieces: 1 })
    }).pipe(Effect.scoped)
  )
})

describe("the health answers", () => {
  it.live("take no body in chunks, and one request of a connection", () =>
    Effect.gen(function* () {
      const port = yield* serveHealth({ host: "127.0.0.1", port: 0 }, yield* Readiness)
      assert.match(yield* sent(port, fill(chunked, "1\r\na\r\n")), /^HTTP\/1.1 411 /)
      assert.include(yield* sent(port, "GET /livez HTTP/1.1\r\nhost: a\r\n\r\n"), "lives")
      const answers = (yield* sent(port, fill("", "GET /livez HTTP/1.1\r\nhost: a\r\n\r\n"))).split("HTTP/1.1 200")
      assert.isAtMost(answers.length - 1, 1)
    }).pipe(Effect.scoped, Effect.provide(Readiness.layer))
  )
})

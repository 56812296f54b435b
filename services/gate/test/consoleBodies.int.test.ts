import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { largestBody } from "../src/console/limits.ts"
import { allRoutes, filledIn } from "./support/allRoutes.ts"
import { openWith, raise, world } from "./support/consoleOverMemory.ts"
import { requestText, sendRaw } from "./support/rawHttp.ts"

const chunk = "x".repeat(64 * 1024)
const chunked = `${chunk.length.toString(16)}\r\n${chunk}\r\n`
const unlimited = { burst: 1e9, perSecond: 1e9, mostWaiting: 0 }

describe("the body of a request to the console", () => {
  layer(world, { excludeTestServices: true, timeout: "5 minutes" })("over a broker in memory", (it) => {
    it.effect(
      "is answered with 413 by every route that takes one when it is too large, and with 411 without a length",
      () =>
        Effect.gen(function* () {
          const { own, port, signIn } = yield* openWith({
            limits: { signedIn: unlimited, signedOut: unlimited, allSignedOut: unlimited }
          })
          const question = yield* raise
          const session = yield* signIn
          const routes = (yield* allRoutes).filter(({ method }) => method === "POST")
          assert.isAtLeast(routes.length, 10)
          for (const route of routes) {
            const isProof = route.access === "own proof"
            const most = isProof ? largestBody.ownProof : largestBody.signedIn
            const headers = { ...own, host: `127.0.0.1:${port}`, ...(isProof ? {} : { "x-reprise-session": session }) }
            const head = (more: Readonly<Record<string, string>>) =>
              requestText("POST", filledIn(route, question), { ...headers, ...more })
            const announced = yield* sendRaw(port, head({ "content-length": `${most + 1}` }))
            const many = Array.from({ length: Math.ceil(most / chunk.length) + 1 }, () => chunked)
            const unannounced = yield* sendRaw(port, head({ "transfer-encoding": "chunked" }), ...many)
            for (const [status, code, reply] of [
              [413, "too-large", announced],
              [411, "length-required", unannounced]
            ] as const) {
              assert.strictEqual(reply?.status, status, `${route.path} ${reply?.body}`)
              assert.include(reply?.body ?? "", `{"ok":false,"error":{"code":"${code}"`)
              assert.strictEqual(reply?.headers["cache-control"], "no-store")
            }
          }
        })
    )

    it.effect("is taken up to that size, which a broker takes as well", () =>
      Effect.gen(function* () {
        const { own, send, signIn } = yield* openWith({})
        const question = yield* raise
        const headers = { ...own, "x-reprise-session": yield* signIn }
        const rest = JSON.stringify({ commandId: "b1", choice: "fix", guidance: "" }).length
        const body = JSON.stringify({
          commandId: "b1",
          choice: "fix",
          guidance: "x".repeat(largestBody.signedIn - rest)
        })
        assert.lengthOf(body, largestBody.signedIn)
        assert.strictEqual((yield* send("POST", `/api/questions/${question}/answer`, headers, body)).status, 200)
        assert.isBelow(largestBody.signedIn, 1024 * 1024, "nats.conf: max_payload")
      })
    )

    it.effect("is a mistake of the client where it cannot be read, and never one of the console", () =>
      Effect.gen(function* () {
        const { own, port, signIn } = yield* openWith({
          limits: { signedIn: unlimited, signedOut: unlimited, allSignedOut: unlimited }
        })
        const question = yield* raise
        const session = yield* signIn
        const routes = (yield* allRoutes).filter(({ method }) => method === "POST")
        const invalidUtf8 =
          '{"commandId":"c1","choice":"fix","guidance":"\xff","plan":"\xff","token":"\xff","link":"\xff"}'
        const bodies = ["", "{", "null", "[]", '"text"', "1e999", "{}}", "\0", "[".repeat(10_000), invalidUtf8]
        for (const route of routes) {
          for (const body of bodies) {
            const headers = { ...own, host: `127.0.0.1:${port}`, "x-reprise-session": session }
            // Letters are sent as single bytes here.
            const sent = requestText("POST", filledIn(route, question), {
              ...headers,
              "content-length": `${body.length}`
            })
            const reply = yield* sendRaw(port, Buffer.from(`${sent}${body}`, "latin1"))
            assert.strictEqual(reply?.status, 400, `${route.path} ${JSON.stringify(body.slice(0, 20))} ${reply?.body}`)
            assert.include(reply?.body ?? "", "unreadable")
          }
        }
      })
    )

    it.effect("is a mistake of the client where its length lies, its form is wrong, or the request is none", () =>
      Effect.gen(function* () {
        const { own, port, signIn } = yield* openWith({})
        const session = yield* signIn
        const body = '{"guidance":"x"}'
        const head = (more: Readonly<Record<string, string>>) =>
          requestText("POST", "/api/plans/dry-run", {
            ...own,
            host: `127.0.0.1:${port}`,
            "x-reprise-session": session,
            ...more
          })
        for (const text of [
          `${head({ "content-length": "4" })}${body}`,
          `${head({ "content-length": "x" })}${body}`,
          `${head({ "content-length": "4, 16" })}${body}`,
          `${head({ "content-length": "16", "transfer-encoding": "chunked" })}${body}`,
          "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
          `GET / HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\na b: c\r\n\r\n`
        ]) {
          const reply = yield* sendRaw(port, text)
          assert.strictEqual(reply?.status, 400, text)
          assert.include(reply?.body ?? "", '{"ok":false,"error":{"code":"unreadable"', text)
          assert.isDefined(reply?.headers["content-security-policy"])
        }
        const tall = yield* sendRaw(port, requestText("GET", "/", { host: "x", long: "x".repeat(20_000) }))
        assert.strictEqual(tall?.status, 431)
        const expecting = yield* sendRaw(port, requestText("GET", "/api/runs", { ...own, expect: "the unexpected" }))
        assert.strictEqual(expecting?.status, 421)
        assert.isDefined(expecting?.headers["content-security-policy"])
      })
    )
  })
})

import { assert, describe, layer } from "@effect/vitest"
import { Messenger } from "@reprise/actor"
import { Effect, Redacted } from "effect"
import { allRoutes, filledIn } from "./support/allRoutes.ts"
import { openWith, raise, token, world } from "./support/consoleOverMemory.ts"
import { sendRaw } from "./support/rawHttp.ts"

const viewerToken = "the token of viewers"
const secret = "the secret of the proxy"
const origin = "https://reprise.example.org"
const answer = (commandId: string) => JSON.stringify({ commandId, choice: "fix" })

describe("who uses the console", () => {
  layer(world, { excludeTestServices: true, timeout: "5 minutes" })("over a broker in memory", (it) => {
    it.effect("is a viewer by the viewers' token: sees everything, and answers, starts and changes nothing", () =>
      Effect.gen(function* () {
        const { own, send, signInWith } = yield* openWith({ viewerToken: Redacted.make(viewerToken) })
        const id = yield* raise
        const headers = { ...own, "x-reprise-session": yield* signInWith(viewerToken) }
        assert.include(
          (yield* send("GET", "/api/session", headers)).text,
          '"data":{"role":"viewer","hasRepository":true}'
        )
        for (const path of ["/api/questions", `/api/questions/${id}`, "/api/runs", "/api/plans", "/api/settings"]) {
          assert.notInclude([401, 403], (yield* send("GET", path, headers)).status, path)
        }
        for (const path of [
          `/api/questions/${id}/answer`,
          "/api/runs",
          "/api/runs/run-1/pause",
          "/api/runs/run-1/resume",
          "/api/runs/run-1/abort"
        ]) {
          const refused = yield* send("POST", path, headers, answer("v1"))
          assert.strictEqual(refused.status, 403, path)
          assert.include(refused.text, "You are signed in as a viewer")
        }
        assert.strictEqual((yield* Messenger.use(({ show }) => show.gate(id))).state, "open")
        assert.include((yield* send("GET", "/api/session", { ...own, "x-reprise-session": "" })).text, "signed-out")
      })
    )

    it.effect("is whom the proxy names, if it shows its secret: the name stands with the answer", () =>
      Effect.gen(function* () {
        const proxy = { userHeader: "x-forwarded-email", answerers: ["ada@example.org"], secret: Redacted.make(secret) }
        const { send } = yield* openWith({ origin, proxy })
        const through = { host: "reprise.example.org", origin, "content-type": "application/json" }
        const as = (user: string, shown = secret) => ({
          ...through,
          "x-forwarded-email": user,
          "x-reprise-proxy-secret": shown
        })
        const id = yield* raise
        const path = `/api/questions/${id}/answer`
        assert.strictEqual((yield* send("POST", path, as("ada@example.org", "guess"), answer("p1"))).status, 401)
        assert.strictEqual(
          (yield* send("POST", path, { ...through, "x-forwarded-email": "ada@example.org" }, answer("p2"))).status,
          401
        )
        assert.strictEqual((yield* send("POST", path, as("eve@example.org"), answer("p3"))).status, 403)
        const crossSite = { ...as("ada@example.org"), origin: "https://evil.example" }
        assert.strictEqual((yield* send("POST", path, crossSite, answer("p4"))).status, 403)
        assert.strictEqual((yield* Messenger.use(({ show }) => show.gate(id))).state, "open")
        assert.include(
          (yield* send("GET", "/api/session", as("eve@example.org"))).text,
          '{"role":"viewer","user":"eve@example.org","hasRepository":true}'
        )
        assert.strictEqual((yield* send("POST", path, as("ada@example.org"), answer("p5"))).status, 200)
        const { by, state, via } = yield* Messenger.use(({ show }) => show.gate(id))
        assert.deepStrictEqual([state, by, via], ["answered", "ada@example.org", "web"])
      })
    )

    it.effect(
      "is nobody beyond this machine but through the proxy, and the console refuses to listen there without one",
      () =>
        Effect.gen(function* () {
          const proxy = { userHeader: "x-forwarded-email", answerers: ["*"], secret: Redacted.make(secret) }
          const { own, send } = yield* openWith({ listen: "0.0.0.0", origin, proxy })
          const signIn = yield* send("POST", "/api/session", own, JSON.stringify({ token }))
          assert.strictEqual(signIn.status, 403)
          assert.isUndefined(signIn.headers["set-cookie"])
          assert.include((yield* send("GET", "/")).text, "not-through-the-proxy")
          const { secret: _, ...withoutSecret } = proxy
          for (const options of [{}, { origin }, { origin, proxy: withoutSecret }, { proxy }]) {
            const refused = yield* Effect.flip(openWith({ listen: "0.0.0.0", ...options }))
            assert.match(refused.message, /must not listen on 0\.0\.0\.0/)
          }
        })
    )

    it.effect("is nobody where a header comes twice, of which one may be the visitor's own", () =>
      Effect.gen(function* () {
        // Of this header Node keeps the first by default.
        const { port } = yield* openWith({ proxy: { userHeader: "from", answerers: ["ada"] } })
        const host = `127.0.0.1:${port}`
        const asked = (...lines: ReadonlyArray<string>) =>
          Effect.map(
            sendRaw(port, ["GET /api/session HTTP/1.1", "connection: close", ...lines, "", ""].join("\r\n")),
            (reply) => reply?.status
          )
        assert.strictEqual(yield* asked(`host: ${host}`, "from: ada"), 200)
        assert.strictEqual(yield* asked(`host: ${host}`, "from: ada", "from: eve"), 401)
        assert.strictEqual(yield* asked(`host: ${host}`, "host: evil.example", "from: ada"), 421)
        assert.strictEqual(yield* asked("from: ada"), 421)
        assert.strictEqual(
          yield* asked(`host: ${host}`, "from: ada", "sec-fetch-site: same-origin", "sec-fetch-site: cross-site"),
          403
        )
      })
    )

    it.effect("is nobody by a cookie, on any route of data, and who has signed in whatever cookies come along", () =>
      Effect.gen(function* () {
        const { own, port, send, signIn } = yield* openWith({})
        const id = yield* raise
        const session = yield* signIn
        const cookies = ["x", "session", "x-reprise-session", `reprise-${port}`].map((name) => `${name}=${session}`)
        const routes = (yield* allRoutes).filter(({ access }) => access === "reader" || access === "answerer")
        assert.isAtLeast(routes.length, 25)
        for (const route of routes) {
          for (const cookie of [...cookies, cookies.join("; ")]) {
            const reply = yield* send(route.method, filledIn(route, id), { ...own, cookie })
            assert.strictEqual(reply.status, 401, `${route.method} ${route.path}`)
          }
        }
        const cookie = `reprise-${port}=x; ${"y=z; ".repeat(1_000)}`
        const { status } = yield* send("GET", "/api/session", { ...own, cookie, "x-reprise-session": session })
        assert.strictEqual(status, 200)
      })
    )

    it.effect("is believed by a header alone on this machine only, where no secret was set", () =>
      Effect.gen(function* () {
        const { own, send } = yield* openWith({ proxy: { userHeader: "remote-user", answerers: [] } })
        assert.include(
          (yield* send("GET", "/api/session", { ...own, "remote-user": "ada" })).text,
          '"role":"viewer","user":"ada"'
        )
        const plain = yield* openWith({})
        assert.strictEqual(
          (yield* plain.send("GET", "/api/session", { ...plain.own, "remote-user": "ada" })).status,
          401
        )
      })
    )
  })
})

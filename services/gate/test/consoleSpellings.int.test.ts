import { assert, describe, layer } from "@effect/vitest"
import { Messenger } from "@reprise/actor"
import type { EscalationId } from "@reprise/protocol"
import { Arbitrary, Effect, Redacted } from "effect"
import type { Limits } from "../src/console/limits.ts"
import { makeRouteTable, type Route } from "../src/work/console/Route.ts"
import { allRoutes, filledIn } from "./support/allRoutes.ts"
import { openWith, raise, world } from "./support/consoleOverMemory.ts"
import { type RawReply, requestText, sendRaw } from "./support/rawHttp.ts"
import { knownTries, methods, spellingsOf, type Try } from "./support/spellings.ts"

const viewerToken = "the token of viewers"
const unlimited = { burst: 1e9, perSecond: 1e9, mostWaiting: 0 }
const withoutLimits: Partial<Limits> = { signedIn: unlimited, signedOut: unlimited, allSignedOut: unlimited }

/** What everybody may have. */
const publicTexts: ReadonlySet<string> = new Set(["", "<!doctype html><title>The page</title>", "export {}"])
const refusals: ReadonlySet<number> = new Set([400, 401, 403, 404, 408, 413, 415, 421, 431])
const everywhere = [
  "content-security-policy",
  "cross-origin-opener-policy",
  "cross-origin-resource-policy",
  "referrer-policy",
  "x-content-type-options"
]

/** What is wrong with an answer to somebody who may not have data; undefined: nothing. */
const problemOf = (reply: RawReply | undefined, method: string): string | undefined => {
  // Node answers no CONNECT.
  if (reply === undefined) return method === "CONNECT" ? undefined : "no answer"
  const { body, headers, status } = reply
  const missing = everywhere.find((name) => headers[name] === undefined)
  if (missing !== undefined) return `no ${missing}`
  if (headers["set-cookie"] !== undefined) return "a cookie"
  if (headers["cache-control"] !== "no-store") {
    return publicTexts.has(body) && (method === "GET" || method === "HEAD") ? undefined : `kept: ${body}`
  }
  if (!refusals.has(status)) return `status ${status}: ${body}`
  return body === "" || /^\{"ok":false,"error":\{"code":"[a-z-]+","message":/.test(body) ? undefined : `body ${body}`
}

const targetsOf = (routes: ReadonlyArray<Route<unknown>>, question: EscalationId) =>
  routes.map((route) => ({
    method: route.method,
    path: filledIn(route, question),
    name: `${route.method} ${route.path}`
  }))

const bodyFor = JSON.stringify({ commandId: "c1", choice: "fix", plan: "PLAN.md", guidance: "", link: "x", token: "x" })

/** A try, with all that would let it in but a session. */
const sendTry = (
  port: number,
  { isUpgrade, method, target }: Omit<Try, "of">,
  more: Readonly<Record<string, string>> = {}
) => {
  const host = `127.0.0.1:${port}`
  const headers = {
    host,
    origin: `http://${host}`,
    accept: "text/html, */*",
    "content-type": "application/json",
    ...(isUpgrade ? { connection: "upgrade, close", upgrade: "websocket" } : {}),
    ...more
  }
  return sendRaw(port, requestText(method, target, headers, method === "GET" || method === "HEAD" ? "" : bodyFor))
}

const shown = (result: Arbitrary.CheckResult<Try, string>): string | undefined => Arbitrary.formatCheckFailure(result)

describe("however a path of the console is spelled", () => {
  layer(world, { excludeTestServices: true, timeout: "10 minutes" })("over a broker in memory", (it) => {
    it.effect("no data is answered to whoever has not signed in: 10 000 spellings of the paths of all routes", () =>
      Effect.gen(function* () {
        const routes = yield* allRoutes
        const find = makeRouteTable(routes)
        const { port } = yield* openWith({ limits: withoutLimits })
        const question = yield* raise
        const targets = targetsOf(routes, question)
        for (const route of routes) assert.isDefined(find(route.method, filledIn(route, question)), route.path)
        const api = routes.filter(({ path }) => path.startsWith("/api/"))
        /** By route, or method: how many tries there were of it, and how many the router took for it. */
        const [tried, takenFor] = [new Map<string, number>(), new Map<string, number>()]
        const count = (counts: Map<string, number>, name: string) => counts.set(name, (counts.get(name) ?? 0) + 1)
        let taken = 0
        const result = yield* Arbitrary.checkEffect(
          spellingsOf(targets, `127.0.0.1:${port}`),
          (one) =>
            Effect.gen(function* () {
              const match = find(one.method, one.target)?.route
              if (match?.path.startsWith("/api/") === true) {
                taken++
                count(takenFor, `${match.method} ${match.path}`)
              }
              count(tried, `method ${one.method}`)
              count(tried, one.of)
              const problem = problemOf(yield* sendTry(port, one), one.method)
              return problem === undefined ? true : yield* Effect.fail(problem)
            }),
          { runs: 10_000, concurrency: 16, seed: "spellings", maxShrinks: 200 }
        )
        assert.isUndefined(shown(result))
        assert.isAbove(taken, 3_000, "the router takes too few of them for one of its routes of data")
        // A route that is added is among them by itself, or this fails.
        for (const name of routes.map(({ method, path }) => `${method} ${path}`))
          assert.isAbove(tried.get(name) ?? 0, 100, name)
        for (const name of api.map(({ method, path }) => `${method} ${path}`))
          assert.isAbove(takenFor.get(name) ?? 0, 30, name)
        for (const method of methods) assert.isAbove(tried.get(`method ${method}`) ?? 0, 100, method)
        assert.strictEqual((yield* Messenger.use(({ show }) => show.gate(question))).state, "open")
      })
    )

    it.effect("the 84 tries that once brought data, and their like for all routes, bring none and are not pages", () =>
      Effect.gen(function* () {
        const { port } = yield* openWith({ limits: withoutLimits })
        const question = yield* raise
        const run = question.replace(/-e1$/, "")
        const tries = [
          "/api/questions",
          `/api/questions/${question}`,
          `/api/runs/${run}/events`,
          "/api/runs",
          "/api/settings",
          "/api/plans",
          "/api/events"
        ].flatMap(knownTries)
        assert.lengthOf(tries, 84)
        const paths = (yield* allRoutes).filter(({ path }) => path.startsWith("/api/"))
        const others = [...new Set(paths.map((route) => filledIn(route, question)))].flatMap(knownTries)
        for (const target of [...tries, ...others]) {
          const reply = yield* sendTry(port, { method: "GET", target, isUpgrade: false })
          assert.deepStrictEqual([reply?.status, reply?.headers["cache-control"]], [401, "no-store"], target)
        }
      })
    )

    it.effect("a viewer changes nothing: 3 000 spellings of the paths that only answerers may use", () =>
      Effect.gen(function* () {
        const routes = yield* allRoutes
        const { port, signInWith } = yield* openWith({
          limits: withoutLimits,
          viewerToken: Redacted.make(viewerToken)
        })
        const question = yield* raise
        const session = yield* signInWith(viewerToken)
        const targets = targetsOf(
          routes.filter(({ access }) => access === "answerer"),
          question
        )
        assert.isAtLeast(targets.length, 10)
        const result = yield* Arbitrary.checkEffect(
          spellingsOf(targets, `127.0.0.1:${port}`).pipe(
            Arbitrary.map((one) => (one.method === "HEAD" || one.method === "GET" ? { ...one, method: "POST" } : one))
          ),
          (one) =>
            Effect.gen(function* () {
              const problem = problemOf(yield* sendTry(port, one, { "x-reprise-session": session }), one.method)
              return problem === undefined ? true : yield* Effect.fail(problem)
            }),
          { runs: 3_000, concurrency: 16, seed: "viewers", maxShrinks: 200 }
        )
        assert.isUndefined(shown(result))
        assert.strictEqual((yield* Messenger.use(({ show }) => show.gate(question))).state, "open")
      })
    )

    it.effect("what no route matches is refused before signing in, and said to be missing after", () =>
      Effect.gen(function* () {
        const { own, port, signIn } = yield* openWith({ limits: withoutLimits })
        const session = yield* signIn
        const targets = [
          "/api",
          "/api/",
          "/api/anything",
          "/API/questions",
          "//api/questions",
          "/api/settings/",
          "/%2fapi/questions",
          "/x/../api/questions",
          "/favicon.ico",
          "/assets/none.js",
          "/index.html/",
          "/%ff"
        ]
        for (const target of targets) {
          const before = yield* sendTry(port, { method: "GET", target, isUpgrade: false })
          const isAsset = target.startsWith("/assets/")
          assert.strictEqual(before?.status, isAsset ? 404 : 401, target)
          const after = yield* sendTry(
            port,
            { method: "GET", target, isUpgrade: false },
            { ...own, "x-reprise-session": session }
          )
          assert.strictEqual(after?.status, 404, target)
          assert.include(after?.body ?? "", "not-found")
        }
      })
    )

    it.effect("a route cannot be made without saying who may use it", () =>
      Effect.gen(function* () {
        const { reply, ...known } = (yield* allRoutes)[0] ?? assert.fail("there is no route")
        // @ts-expect-error it says not who
        const route: Route<unknown> = { method: "GET", path: "/api/new", reply }
        // @ts-expect-error the router takes no route that says not who
        makeRouteTable([{ method: "GET", path: "/api/new", reply }])
        assert.notProperty(route, "access")
        for (const { access } of yield* allRoutes)
          assert.include(["public", "own proof", "reader", "answerer"], access, known.path)
      })
    )
  })
})

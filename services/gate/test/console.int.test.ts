import { request } from "node:http"
import { assert, describe, layer } from "@effect/vitest"
import { Messenger } from "@reprise/actor"
import { LiveMessage } from "@reprise/protocol"
import { Effect, Fiber, Logger, Redacted, Schedule, Schema } from "effect"
import { serveConsole } from "../src/work/console/serveConsole.ts"
import { type Headers, opened, pages, raise, sessionIn, token, world } from "./support/consoleOverMemory.ts"

const decodeLive = Schema.decodeUnknownSync(LiveMessage)
const said = { _tag: "AgentSaid", turnId: "t1", role: "author", part: "p1", kind: "text" }

const answerOf = (commandId: string, choice: string, guidance?: string) =>
  JSON.stringify({ commandId, choice, ...(guidance === undefined ? {} : { guidance }) })

/** The messages of an event stream, up to one that holds a text. */
const streamUntil = (port: number, headers: Headers, ending: string, path = "/api/events") =>
  Effect.callback<string>((resume) => {
    const sent = request({ host: "127.0.0.1", port, path, headers, agent: false }, (response) => {
      let text = ""
      response.setEncoding("utf8").on("data", (part) => {
        text += part
        if (!text.includes(ending)) return
        sent.destroy()
        resume(Effect.succeed(text))
      })
    })
    sent.on("error", () => undefined)
    sent.end()
    return Effect.sync(() => sent.destroy())
  })

const idsIn = (stream: string): ReadonlyArray<number> =>
  [...stream.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))

describe("the console's HTTP side", () => {
  layer(world, { excludeTestServices: true, timeout: "5 minutes" })("over a broker in memory", (it) => {
    it.effect("takes no answer whose agent is not set up, and the question stays open", () =>
      Effect.gen(function* () {
        const { own, send, signIn } = yield* opened
        const signedIn = { ...own, "x-reprise-session": yield* signIn }
        const id = yield* raise
        const path = `/api/questions/${id}`
        const by = (commandId: string, runtime: string) => JSON.stringify({ commandId, choice: "fix", runtime })
        const absent = yield* send("POST", `${path}/answer`, signedIn, by("a1", "absent"))
        assert.deepStrictEqual([absent.status, absent.text.includes("Not installed.")], [503, true])
        const unknown = yield* send("POST", `${path}/answer`, signedIn, by("a2", "cursor"))
        assert.strictEqual(unknown.status, 409)
        assert.match(unknown.text, /There is no runtime 'cursor'/)
        assert.include((yield* send("GET", path, signedIn)).text, '"state":"open"')
      })
    )

    it.effect("shows and takes nothing without the token, and says how to sign in", () =>
      Effect.gen(function* () {
        const { own, send } = yield* opened
        const id = yield* raise
        for (const path of [
          "/api/questions",
          `/api/questions/${id}`,
          "/api/runs",
          "/api/runs/run-1",
          "/api/runs/run-1/events",
          "/api/plans",
          "/api/settings",
          "/api/sessions/s1/conversation",
          "/api/events",
          "/api/anything"
        ]) {
          const { status, text } = yield* send("GET", path)
          assert.strictEqual(status, 401, path)
          assert.include(text, "signed-out")
          assert.notInclude(text, "Which database?")
        }
        const answered = yield* send("POST", `/api/questions/${id}/answer`, own, answerOf("a1", "fix"))
        assert.strictEqual(answered.status, 401)
        const forged = yield* send("POST", "/api/session", own, JSON.stringify({ token: "guess" }))
        assert.strictEqual(forged.status, 401)
        assert.isUndefined(forged.headers["set-cookie"])
        assert.include(forged.text, "wrong-token")
        const open = yield* Messenger.use(({ show }) => show.gate(id))
        assert.strictEqual(open.state, "open")
      })
    )

    it.effect("starts a run by the options of the command line, and says what keeps it from starting", () =>
      Effect.gen(function* () {
        const { own, send, signIn } = yield* opened
        const signedIn = { ...own, "x-reprise-session": yield* signIn }
        const json = (value: object) => JSON.stringify(value)
        assert.include((yield* send("GET", "/api/plans", signedIn)).text, '"title":"A plan"')
        assert.include((yield* send("GET", "/api/settings", signedIn)).text, '"setting":"runtime","value":"claude"')
        const dryRun = yield* send("POST", "/api/plans/dry-run", signedIn, json({ plan: "PLAN.md" }))
        assert.include(dryRun.text, "would run PLAN.md")
        const started = yield* send(
          "POST",
          "/api/runs",
          signedIn,
          json({ commandId: "c1", plan: "PLAN.md", auto: true })
        )
        assert.include(started.text, '{"runId":"r-c1","state":"done"}')
        const refused = yield* send("POST", "/api/runs", signedIn, json({ commandId: "c2", plan: "NONE.md" }))
        assert.strictEqual(refused.status, 422)
        assert.include(refused.text, "There is no plan at NONE.md.")
        const unreadable = yield* send("POST", "/api/runs", signedIn, json({ plan: "PLAN.md" }))
        assert.strictEqual(unreadable.status, 400)
        const signedOut = yield* send("POST", "/api/runs", own, json({ commandId: "c3", plan: "PLAN.md" }))
        assert.strictEqual(signedOut.status, 401)
        const elsewhere = { ...signedIn, origin: "https://elsewhere.example" }
        const forged = yield* send("POST", "/api/runs", elsewhere, json({ commandId: "c4", plan: "PLAN.md" }))
        assert.strictEqual(forged.status, 403)
      })
    )

    it.effect("exchanges the token for a session in the body, and sets no cookie, which other ports would get", () =>
      Effect.gen(function* () {
        const { own, send } = yield* opened
        const reply = yield* send("POST", "/api/session", own, JSON.stringify({ token }))
        assert.strictEqual(reply.status, 200)
        assert.isUndefined(reply.headers["set-cookie"])
        assert.strictEqual(reply.headers["cache-control"], "no-store")
        const session = sessionIn(reply.text)
        assert.notInclude(session, token)
        const asked = (headers: Headers) => Effect.map(send("GET", "/api/session", headers), ({ status }) => status)
        assert.strictEqual(yield* asked({ "x-reprise-session": session }), 200)
        assert.strictEqual(yield* asked({ "x-reprise-session": `x${session}` }), 401)
      })
    )

    it.effect("refuses writes of another origin, whatever session is sent with them", () =>
      Effect.gen(function* () {
        const { own, send, signIn } = yield* opened
        const session = yield* signIn
        const id = yield* raise
        const path = `/api/questions/${id}/answer`
        const body = answerOf("a2", "fix")
        const foreign = [
          { ...own, "x-reprise-session": session, origin: "https://evil.example" },
          { ...own, "x-reprise-session": session, origin: "http://127.0.0.1:1" },
          { "content-type": "application/json", "x-reprise-session": session },
          { ...own, "x-reprise-session": session, "sec-fetch-site": "cross-site" },
          { ...own, "x-reprise-session": session, "content-type": "text/plain" },
          { ...own, "x-reprise-session": session, host: "evil.example" }
        ]
        for (const headers of foreign) {
          const { status } = yield* send("POST", path, headers, body)
          assert.include([403, 415, 421], status, JSON.stringify(headers))
        }
        const { state } = yield* Messenger.use(({ show }) => show.gate(id))
        assert.strictEqual(state, "open")
      })
    )

    it.effect("gives an answer once, however often it is sent, and tells the next who was first", () =>
      Effect.gen(function* () {
        const { own, send, signIn } = yield* opened
        const headers = { ...own, "x-reprise-session": yield* signIn }
        const id = yield* raise
        const path = `/api/questions/${id}/answer`
        const guidance = "Use PostgreSQL.\n  Not {this}, <b>that</b> \u202e"
        const first = yield* send("POST", path, headers, answerOf("a3", "fix", guidance))
        assert.deepStrictEqual(JSON.parse(first.text), { ok: true, data: { state: "done" } })
        const again = yield* send("POST", path, headers, answerOf("a3", "fix", guidance))
        assert.strictEqual(again.status, 200, again.text)
        const late = yield* send("POST", path, headers, answerOf("a4", "abort"))
        assert.strictEqual(late.status, 409)
        assert.match(late.text, /ada answered 'fix' through web/)
        const view = yield* Messenger.use(({ show }) => show.gate(id))
        assert.deepInclude(view, { state: "answered", choice: "fix", guidance, by: "ada", via: "web" })
      })
    )

    it.effect("refuses an answer for another commit than the one that was shown", () =>
      Effect.gen(function* () {
        const { own, send, signIn } = yield* opened
        const headers = { ...own, "x-reprise-session": yield* signIn }
        const id = yield* raise
        const body = JSON.stringify({ commandId: "a5", choice: "fix", commit: "abc" })
        const reply = yield* send("POST", `/api/questions/${id}/answer`, headers, body)
        assert.strictEqual(reply.status, 409)
        assert.include(reply.text, "another-commit")
      })
    )

    it.effect("says what is wrong with a request that it cannot read, and with a question that does not exist", () =>
      Effect.gen(function* () {
        const { own, send, signIn } = yield* opened
        const headers = { ...own, "x-reprise-session": yield* signIn }
        const id = yield* raise
        for (const body of ["", "{", "null", '{"choice":"fix"}', '{"choice":"fix","commandId":"a b"}']) {
          const { status, text } = yield* send("POST", `/api/questions/${id}/answer`, headers, body)
          assert.strictEqual(status, 400, body)
          assert.include(text, "unreadable")
        }
        const missing = yield* send("GET", "/api/questions/none", headers)
        assert.strictEqual(missing.status, 404)
        const strange = yield* send("GET", "/api/questions/%2e%2e%2f*", headers)
        assert.strictEqual(strange.status, 400)
        const unavailable = yield* send("GET", "/api/nothing", headers)
        assert.strictEqual(unavailable.status, 404)
      })
    )

    it.effect("continues a cut event stream after the last event that the browser saw: none missed, none doubled", () =>
      Effect.gen(function* () {
        const { port, signIn } = yield* opened
        const session = yield* signIn
        const first = yield* raise
        const before = yield* streamUntil(port, { "x-reprise-session": session }, `"escalationId":"${first}"`)
        assert.include(before, 'data: {"resumed":false}')
        const second = yield* raise
        const third = yield* raise
        const last = Math.max(...idsIn(before))
        const after = yield* streamUntil(
          port,
          { "x-reprise-session": session, "last-event-id": `${last}` },
          `"escalationId":"${third}"`
        )
        assert.include(after, 'data: {"resumed":true}')
        assert.include(after, `"escalationId":"${second}"`)
        const ids = idsIn(after)
        assert.deepStrictEqual(
          ids,
          ids.map((_, n) => last + 1 + n)
        )
      })
    )

    it.effect("goes on after an event that the address names, for a reader that can set no header", () =>
      Effect.gen(function* () {
        const { port, signIn } = yield* opened
        const session = yield* signIn
        const first = yield* raise
        const before = yield* streamUntil(port, { "x-reprise-session": session }, `"escalationId":"${first}"`)
        const last = Math.max(...idsIn(before))
        const second = yield* raise
        const after = yield* streamUntil(
          port,
          { "x-reprise-session": session },
          `"escalationId":"${second}"`,
          `/api/events?after=${last}`
        )
        assert.include(after, 'data: {"resumed":true}')
        assert.strictEqual(idsIn(after)[0], last + 1)
      })
    )

    it.effect("brings what the agents of several runs say by one connection, and of no others", () =>
      Effect.gen(function* () {
        const { port, send, signIn } = yield* opened
        const session = yield* signIn
        const say = (run: string, text: string) =>
          Messenger.use(({ announce }) => announce(decodeLive({ ...said, runId: run, sessionId: `${run}-s1`, text })))
        const heard = yield* Effect.forkChild(
          streamUntil(port, { "x-reprise-session": session }, "the end", "/api/live?run=live-a&run=live-b&run=live-a")
        )
        yield* Effect.repeat(
          Effect.all([say("live-c", "of another"), say("live-a", "one"), say("live-b", "two and the end")]),
          { until: () => heard.pollUnsafe() !== undefined, schedule: Schedule.spaced("20 millis") }
        )
        const text = yield* Fiber.join(heard)
        assert.match(text, /event: listening\n/)
        assert.include(text, "one")
        assert.notInclude(text, "of another")
        const many = Array.from({ length: 65 }, (_, n) => `run=r${n}`).join("&")
        for (const path of [
          "/api/live",
          "/api/live?run=",
          "/api/live?run=a.b",
          "/api/live?run=a?b",
          `/api/live?${many}`
        ]) {
          assert.strictEqual((yield* send("GET", path, { "x-reprise-session": session })).status, 400, path)
        }
        assert.strictEqual((yield* send("GET", "/api/live?run=live-a")).status, 401)
      })
    )

    it.effect("serves the page for every path of its own, and files that never change forever", () =>
      Effect.gen(function* () {
        const { send } = yield* opened
        for (const path of ["/", "/runs", "/questions/run-1-e1"]) {
          const { headers, status, text } = yield* send("GET", path, { accept: "text/html" })
          assert.strictEqual(status, 200, path)
          assert.include(text, "The page")
          assert.strictEqual(headers["cache-control"], "no-cache")
          for (const rule of ["default-src 'self'", "worker-src 'self'"])
            assert.include(headers["content-security-policy"], rule)
          assert.strictEqual(headers["referrer-policy"], "no-referrer")
        }
        const file = yield* send("GET", "/assets/main-abc.js")
        assert.include(file.headers["cache-control"], "immutable")
        const outside = yield* send("GET", "/assets/..%2f..%2f..%2f..%2fetc/passwd")
        assert.notInclude(outside.text, "root:")
      })
    )

    it.effect("says which port is taken", () =>
      Effect.gen(function* () {
        const { port } = yield* opened
        const second = serveConsole({ port, token: Redacted.make(token), pages: yield* pages })
        const error = yield* Effect.flip(second)
        assert.strictEqual(error.message, `The console cannot listen on 127.0.0.1:${port}.`)
      })
    )

    it.effect("writes neither the token nor a session to the log", () =>
      Effect.gen(function* () {
        const lines: Array<string> = []
        const logger = Logger.layer([
          Logger.make(({ cause, message }) => {
            lines.push(`${JSON.stringify(message)} ${String(cause)}`)
          })
        ])
        const session = yield* Effect.gen(function* () {
          const { own, send, signIn } = yield* opened
          const signedIn = yield* signIn
          yield* send("POST", "/api/session", own, JSON.stringify({ token, more: token }))
          yield* send("GET", "/api/runs", { "x-reprise-session": signedIn })
          yield* send("GET", "/api/sessions/none", { "x-reprise-session": signedIn })
          return signedIn
        }).pipe(Effect.provide(logger))
        const logged = lines.join("\n")
        assert.notInclude(logged, token)
        assert.notInclude(logged, session)
      })
    )
  })
})

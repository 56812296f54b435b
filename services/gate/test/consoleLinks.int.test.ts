import { assert, describe, layer } from "@effect/vitest"
import { drain, Messenger } from "@reprise/actor"
import { type EscalationId, to } from "@reprise/protocol"
import { Effect, Redacted } from "effect"
import { issueAnswerLink } from "../src/notify/answerLink.ts"
import { signWith } from "../src/work/signing.ts"
import { opened, openWith, raise, world } from "./support/consoleOverMemory.ts"

const answerKey = Redacted.make("the key of this test")
const hour = 60 * 60_000
const linkTo = (escalationId: string, choice: string, expiresMs = Date.now() + hour) =>
  issueAnswerLink(
    { escalationId, choice, channel: "team", expiresAt: Math.floor(expiresMs / 1000) },
    signWith(answerKey)
  )

const withLinks = Effect.gen(function* () {
  const console = yield* openWith({ answerKey })
  const post = (path: string, body: object) => console.send("POST", path, console.own, JSON.stringify(body))
  return {
    ...console,
    look: (link: string) => post("/api/link", { link }),
    take: (link: string, commandId: string, more: object = {}) => post("/api/link/answer", { link, commandId, ...more })
  }
})
const show = (id: EscalationId) => Messenger.use((messenger) => messenger.show.gate(id))

describe("a link that answers", () => {
  layer(world, { excludeTestServices: true, timeout: "5 minutes" })("over a broker in memory", (it) => {
    it.effect(
      "answers without a session and without the console's token, once, and says afterwards that it was used",
      () =>
        Effect.gen(function* () {
          const { look, take } = yield* withLinks
          const id = yield* raise
          const link = linkTo(id, "fix")
          const before = yield* look(link)
          assert.strictEqual(before.status, 200, before.text)
          assert.containSubset(JSON.parse(before.text), {
            data: { state: "open", choice: "fix", question: { reason: "Which database?" } }
          })
          assert.strictEqual((yield* show(id)).state, "open", "to look answers nothing")
          assert.deepStrictEqual(JSON.parse((yield* take(link, "t1")).text), { ok: true, data: { state: "done" } })
          assert.deepInclude(yield* show(id), { state: "answered", choice: "fix", by: "someone in team", via: "link" })
          assert.strictEqual((yield* take(link, "t1")).status, 200, "what was sent again is the same answer")
          const again = yield* take(link, "t2")
          assert.strictEqual(again.status, 409)
          assert.include(again.text, "someone in team answered 'fix' through link")
          assert.containSubset(JSON.parse((yield* look(link)).text), { data: { state: "used" } })
        })
    )

    it.effect("answers nothing when it is opened, by whatever method a program opens links with", () =>
      Effect.gen(function* () {
        const { own, send } = yield* withLinks
        const id = yield* raise
        const link = linkTo(id, "fix")
        for (const method of ["GET", "HEAD", "OPTIONS"]) {
          for (const path of [
            "/answer",
            `/answer?link=${link}`,
            "/api/link",
            "/api/link/answer",
            `/api/link/answer?link=${link}`
          ]) {
            const { status } = yield* send(
              method,
              path,
              own,
              method === "OPTIONS" ? JSON.stringify({ link, commandId: "g1" }) : undefined
            )
            assert.include([200, 401, 404, 415], status, `${method} ${path}`)
          }
        }
        const page = yield* send("GET", "/answer", { accept: "text/html" })
        assert.strictEqual(page.headers["referrer-policy"], "no-referrer")
        assert.strictEqual((yield* show(id)).state, "open")
      })
    )

    it.effect("gives one answer when several are sent at once, and tells the others by whom", () =>
      Effect.gen(function* () {
        const { take } = yield* withLinks
        const id = yield* raise
        const links = ["fix", "override", "abort", "fix"].map((choice) => linkTo(id, choice))
        const replies = yield* Effect.forEach(links, (link, n) => take(link, `r${n}`), { concurrency: 4 })
        assert.lengthOf(
          replies.filter(({ status }) => status === 200),
          1
        )
        for (const { status, text } of replies.filter((reply) => reply.status !== 200)) {
          assert.strictEqual(status, 409)
          assert.match(text, /someone in team answered '\w+' through link/)
        }
      })
    )

    it.effect(
      "says that it has expired, that its question was answered elsewhere or withdrawn, and changes nothing",
      () =>
        Effect.gen(function* () {
          const { look, take } = yield* withLinks
          const id = yield* raise
          const late = linkTo(id, "fix", Date.now() - 1_000)
          assert.containSubset(JSON.parse((yield* look(late)).text), { data: { state: "expired" } })
          const refused = yield* take(late, "x1")
          assert.strictEqual(refused.status, 410)
          assert.include(refused.text, "expired-link")
          assert.strictEqual((yield* show(id)).state, "open")

          yield* Messenger.use(({ send }) =>
            send(to.gate(id).AnswerEscalation({ choice: "abort", by: "ada", via: "cli" }))
          )
          yield* drain
          assert.containSubset(JSON.parse((yield* look(linkTo(id, "fix"))).text), {
            data: { state: "closed", question: { state: "answered", by: "ada", via: "cli", choice: "abort" } }
          })
          assert.include((yield* take(linkTo(id, "fix"), "x2")).text, "ada answered 'abort' through cli")

          const other = yield* raise
          yield* Messenger.use(({ send }) => send(to.gate(other).WithdrawEscalation({ reason: "agent-working" })))
          yield* drain
          assert.containSubset(JSON.parse((yield* look(linkTo(other, "fix"))).text), {
            data: { state: "closed", question: { state: "withdrawn", withdrawnFor: "agent-working" } }
          })
          assert.strictEqual((yield* take(linkTo(other, "fix"), "x3")).status, 409)
        })
    )

    it.effect(
      "is refused when it is forged, of a question that is gone, for another commit, or from another page",
      () =>
        Effect.gen(function* () {
          const { own, send, take } = yield* withLinks
          const id = yield* raise
          const link = linkTo(id, "fix")
          const forged = `${linkTo(id, "abort").split(".")[0]}.${link.split(".")[1]}`
          assert.deepStrictEqual([(yield* take(forged, "f1")).status, (yield* take("", "f2")).status], [403, 403])
          assert.strictEqual((yield* take(linkTo("no-such", "fix"), "f3")).status, 404)
          assert.include((yield* take(link, "f4", { commit: "abc" })).text, "another-commit")
          assert.strictEqual((yield* take(link, "not a key")).status, 400)
          const body = JSON.stringify({ link, commandId: "f5" })
          for (const headers of [
            { ...own, origin: "https://evil.example" },
            { ...own, "sec-fetch-site": "cross-site" },
            { ...own, "content-type": "text/plain" },
            { "content-type": "application/json" }
          ]) {
            const { status } = yield* send("POST", "/api/link/answer", headers, body)
            assert.include([403, 415], status)
          }
          assert.strictEqual((yield* show(id)).state, "open")
        })
    )

    it.effect("opens nothing else, and is refused by a console that has no key for links", () =>
      Effect.gen(function* () {
        const id = yield* raise
        const link = linkTo(id, "fix")
        const { own, send } = yield* withLinks
        const signIn = yield* send("POST", "/api/session", own, JSON.stringify({ token: link }))
        assert.strictEqual(signIn.status, 401)
        const plain = yield* opened
        const reply = yield* plain.send(
          "POST",
          "/api/link/answer",
          plain.own,
          JSON.stringify({ link, commandId: "n1" })
        )
        assert.strictEqual(reply.status, 403)
        assert.strictEqual((yield* show(id)).state, "open")
      })
    )
  })
})

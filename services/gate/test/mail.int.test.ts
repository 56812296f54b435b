/** E-mails, by a real SMTP server. */
import { assert, describe, it, layer } from "@effect/vitest"
import { drain } from "@reprise/actor"
import { freePort } from "@reprise/process"
import { type MailServerOptions, makeCertificate, type ReceivedMail, startMailServer, trusting } from "@reprise/testing"
import { Effect, Redacted } from "effect"
import { send } from "../src/index.ts"
import type { Notices } from "../src/notify/Notice.ts"
import type { MailChannel } from "../src/work/notify/Channel.ts"
import {
  answer,
  ask,
  askAbout,
  deadLettersOf,
  newQuestion,
  startGate,
  waitUntil,
  world
} from "./support/overJetStream.ts"

const password = "the password of this test"
const login = { user: "ada", password }

const channelTo = (url: string, more: Partial<MailChannel> = {}): MailChannel => ({
  name: "mail",
  preset: "email",
  url: Redacted.make(url),
  from: "reprise@example.org",
  to: ["ada@example.org"],
  reminders: true,
  ...more
})
const signedIn = { login: { user: "ada", password: Redacted.make(password) } }
const test: Notices = [{ _tag: "Test", id: "t" }]

const idsOf = (mails: ReadonlyArray<ReceivedMail>) => [...new Set(mails.map(({ headers }) => headers["message-id"]))]

layer(world, { excludeTestServices: true, timeout: "5 minutes" })("e-mails over JetStream", (it) => {
  it.effect("tell of a question, and of its answer below it, as plain text without the guidance", () =>
    Effect.gen(function* () {
      const { mails, port } = yield* startMailServer()
      const to = ["ada@example.org", "grace@example.org"]
      yield* startGate({
        channels: [channelTo(`smtp://127.0.0.1:${port}`, { to })],
        origin: "https://reprise.example.org"
      })
      const id = newQuestion()
      const planTitle = "Plan\r\nBcc: eve@example.org\r\n\r\nBody\u0000"
      yield* askAbout(id, { evidence: { planTitle }, reason: "Which <b>database</b>?\r\n.\r\nRSET\u001b[31m" })
      yield* waitUntil(() => mails.length > 0)
      yield* drain
      yield* answer(id)
      yield* waitUntil(() => mails.some(({ headers }) => headers["in-reply-to"] !== undefined))
      yield* drain
      // Each once, or again under the same id: mail programs take those for one.
      const [first, second, ...more] = idsOf(mails)
      assert.deepStrictEqual(more, [])
      const raised = mails.find(({ headers }) => headers["message-id"] === first)
      const answered = mails.find(({ headers }) => headers["message-id"] === second)
      assert.match(first ?? "", new RegExp(`^<${id.escalationId}\\.mail\\.raised\\.\\d{17}@example\\.org>$`))
      assert.match(second ?? "", new RegExp(`^<${id.escalationId}\\.mail\\.answered\\.\\d{17}@example\\.org>$`))
      assert.containSubset(raised, { from: "reprise@example.org", to })
      assert.containSubset(raised?.headers, {
        from: "Reprise <reprise@example.org>",
        to: "ada@example.org, grace@example.org",
        "auto-submitted": "auto-generated"
      })
      assert.strictEqual(
        raised?.headers["subject"],
        "The author needs you: Plan Bcc: eve@example.org Body\ufffd, phase 2"
      )
      assert.match(raised?.headers["content-type"] ?? "", /^text\/plain; charset=utf-8/)
      assert.notProperty(raised?.headers, "bcc")
      assert.notProperty(raised?.headers, "in-reply-to")
      const text = raised?.text ?? ""
      assert.match(text, /\n\nWhich <b>database<\/b>\?\n\.\nRSET\ufffd\[31m\nChoices: continue-session, fix/)
      assert.isTrue(text.endsWith(`\n\nhttps://reprise.example.org/questions/${id.escalationId}`), text)
      assert.containSubset(answered?.headers, {
        subject: `Re: ${raised?.headers["subject"]}`,
        "in-reply-to": first,
        references: first
      })
      assert.match(answered?.text ?? "", /^No longer needed: .*\n\nada answered 'fix' through cli\./)
      assert.notInclude(JSON.stringify(mails), "hush")
    })
  )

  it.effect("are sent again under the same id until the server takes them", () =>
    Effect.gen(function* () {
      const { attempts, mails, port } = yield* startMailServer({ reply: (n) => (n < 3 ? 451 : undefined) })
      yield* startGate({ channels: [channelTo(`smtp://127.0.0.1:${port}`)] })
      const id = newQuestion()
      yield* ask(id)
      yield* waitUntil(() => mails.length > 0)
      yield* drain
      assert.isAtLeast(attempts(), 3)
      assert.lengthOf(idsOf(mails), 1)
      assert.deepStrictEqual(yield* deadLettersOf(id), [])
    })
  )

  it.effect("that the server refuses for good become a dead letter in our words", () =>
    Effect.gen(function* () {
      const { attempts, mails, port } = yield* startMailServer({ refusal: () => 550 })
      yield* startGate({ channels: [channelTo(`smtp://127.0.0.1:${port}`)] })
      const id = newQuestion()
      yield* ask(id)
      yield* drain
      const [letter, ...more] = yield* deadLettersOf(id)
      assert.lengthOf(more, 0)
      assert.match(letter?.content?.reason ?? "", /Telling channel 'mail' .* failed: it refuses the recipient \(550\)/)
      assert.notMatch(JSON.stringify(letter), /words of the server|127\.0\.0\.1/)
      assert.strictEqual(attempts(), 0)
      assert.deepStrictEqual(mails, [])
    })
  )
})

describe("an e-mail", () => {
  const certificate = makeCertificate()

  const sent = Effect.fnUntraced(function* (
    options: MailServerOptions,
    urlOf: (port: number) => string,
    more: Partial<MailChannel> = {}
  ) {
    const server = yield* startMailServer(options)
    const outcome = yield* send(channelTo(urlOf(server.port), more), test, { timeoutMs: 60_000 })
    return { outcome, ...server }
  })

  // 0.0.0.0 leads to this machine, but is not its loopback: Reprise takes it for another machine.
  const elsewhere = (port: number) => `smtp://0.0.0.0:${port}`

  it.effect("is sent over TLS from the first byte on, to a server with a certificate that is trusted", () =>
    Effect.gen(function* () {
      yield* trusting(certificate.cert)
      const options = { certificate, isTls: true, login }
      const { logins, mails, outcome } = yield* sent(options, (port) => `smtps://localhost:${port}`, signedIn)
      assert.deepStrictEqual(outcome, { _tag: "Delivered" })
      assert.deepStrictEqual(logins, [{ password, isSecure: true }])
      assert.containSubset(mails, [{ isSecure: true, user: "ada", to: ["ada@example.org"] }])
    })
  )

  it.effect("to another machine is sent over STARTTLS", () =>
    Effect.gen(function* () {
      yield* trusting(certificate.cert)
      const { logins, mails, outcome } = yield* sent({ host: "0.0.0.0", certificate, login }, elsewhere, signedIn)
      assert.deepStrictEqual(outcome, { _tag: "Delivered" })
      assert.deepStrictEqual(logins, [{ password, isSecure: true }])
      assert.containSubset(mails, [{ isSecure: true, user: "ada" }])
    })
  )

  it.effect("and a password do not leave this machine without STARTTLS, though the server would take them", () =>
    Effect.gen(function* () {
      const { attempts, logins, outcome } = yield* sent({ host: "0.0.0.0", login }, elsewhere, signedIn)
      assert.strictEqual(outcome._tag, "Refused")
      assert.match(outcome._tag === "Refused" ? outcome.reason : "", /no STARTTLS, without which nothing is sent/)
      assert.deepStrictEqual(logins, [])
      assert.strictEqual(attempts(), 0)
    })
  )

  it.effect("and a password do not go to a server whose certificate is not trusted", () =>
    Effect.gen(function* () {
      const startTls = yield* sent({ host: "0.0.0.0", certificate, login }, elsewhere, signedIn)
      const options = { certificate, isTls: true, login }
      const tls = yield* sent(options, (port) => `smtps://localhost:${port}`, signedIn)
      for (const { attempts, logins, outcome } of [startTls, tls]) {
        assert.containSubset(outcome, { _tag: "Failed", reason: "it cannot be reached (DEPTH_ZERO_SELF_SIGNED_CERT)" })
        assert.deepStrictEqual(logins, [])
        assert.strictEqual(attempts(), 0)
      }
    })
  )

  it.each([[{ login }], [{ login, certificate }]])(
    "to a server of this machine needs neither TLS nor a certificate that is trusted",
    (options) =>
      Effect.gen(function* () {
        const { mails, outcome } = yield* sent(options, (port) => `smtp://127.0.0.1:${port}`, signedIn)
        assert.deepStrictEqual(outcome, { _tag: "Delivered" })
        assert.containSubset(mails, [{ user: "ada", isSecure: "certificate" in options }])
      }).pipe(Effect.scoped, Effect.runPromise)
  )

  it.effect("of a user with a wrong password, or without one, is refused for good", () =>
    Effect.gen(function* () {
      const wrong = { login: { user: "ada", password: Redacted.make("another") } }
      const local = (port: number) => `smtp://127.0.0.1:${port}`
      const refused = yield* sent({ login }, local, wrong)
      assert.deepStrictEqual(refused.outcome, { _tag: "Refused", reason: "it refuses the user or the password (535)" })
      const unknown = yield* sent({ login }, local)
      assert.deepStrictEqual(unknown.outcome, { _tag: "Refused", reason: "it refuses the sender (530)" })
      assert.deepStrictEqual([...refused.mails, ...unknown.mails], [])
    })
  )

  it.effect("that one of two recipients does not get says so", () =>
    Effect.gen(function* () {
      const refusal = (address: string) => (address.startsWith("nobody") ? 550 : undefined)
      const to = ["nobody@example.org", "ada@example.org"]
      const { mails, outcome } = yield* sent({ refusal }, (port) => `smtp://127.0.0.1:${port}`, { to })
      assert.deepStrictEqual(outcome, { _tag: "Delivered", warning: "the server refused 1 of 2 recipients" })
      assert.containSubset(mails, [{ to: ["ada@example.org"] }])
    })
  )

  it.effect("that nobody takes, or that is not answered in time, is tried again", () =>
    Effect.gen(function* () {
      const port = yield* freePort
      const closed = yield* send(channelTo(`smtp://127.0.0.1:${port}`), test)
      assert.deepStrictEqual(closed, {
        _tag: "Failed",
        reason: "it cannot be reached (ECONNREFUSED)",
        maybeReceived: false
      })
      const server = yield* startMailServer({ reply: () => "never" })
      const late = yield* send(channelTo(`smtp://127.0.0.1:${server.port}`), test, { timeoutMs: 3_000 })
      assert.deepStrictEqual(late, {
        _tag: "Failed",
        reason: "it did not answer within 3 seconds",
        maybeReceived: true
      })
    })
  )
})

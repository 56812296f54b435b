/** The pure parts of e-mails, as tables. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Redacted, Schema } from "effect"
import { addressProblem, mailServerOf } from "../src/notify/addresses.ts"
import { type ChannelSettings, ChannelTable, channelLine } from "../src/notify/ChannelSettings.ts"
import { mailOf } from "../src/notify/mailOf.ts"
import { mailOutcome } from "../src/notify/mailOutcome.ts"
import { noticeQuestion, type QuestionNotice } from "../src/notify/Notice.ts"
import { resolveChannels } from "../src/work/notify/Channel.ts"
import { question, timeAt } from "./fixtures.ts"

const hostile = "Plan\r\nBcc: eve@example.org\u0000\u202e"
const asked = noticeQuestion(
  question({ reason: "Which\r\n.\r\n<b>one</b>?", evidence: { planTitle: hostile } }),
  timeAt(0)
)
const raised: QuestionNotice = { _tag: "Raised", question: asked }
const reminder: QuestionNotice = { _tag: "Reminder", question: asked, count: 2 }
const answered: QuestionNotice = { _tag: "Answered", question: asked, choice: "fix", by: "ada", via: "cli" }
const withdrawn: QuestionNotice = { _tag: "Withdrawn", question: asked, reason: "run-ended" }

const team = { name: "team", from: "reprise@example.org", to: ["ada@example.org"] }
const first = "<r1-e1.team.raised.20260102100000000@example.org>"

describe("an e-mail", () => {
  it("says who asks and where in its subject, and holds what is asked, the choices and the link", () => {
    const mail = mailOf(team, [raised], "https://reprise.example.org")
    assert.strictEqual(
      mail.subject,
      "The author needs you: Plan Bcc: eve@example.org\ufffd\ufffd, phase 2",
      "on one line, without control characters"
    )
    assert.match(mail.text, /^Reprise needs you: Plan .*\n\nWhich\n\.\n<b>one<\/b>\?\nChoices: continue-session, fix,/)
    assert.match(mail.text, /\n\nhttps:\/\/reprise\.example\.org\/questions\/r1-e1$/)
    assert.deepStrictEqual(mail.to, team.to)
  })

  it.each([
    [raised, first, undefined],
    [reminder, "<r1-e1.team.reminder.2.20260102100000000@example.org>", first],
    [answered, "<r1-e1.team.answered.20260102100000000@example.org>", first],
    [withdrawn, "<r1-e1.team.withdrawn.20260102100000000@example.org>", first]
  ])("has the same id at every attempt, and replies to the one about the question", (notice, id, inReplyTo) => {
    const mail = mailOf(team, [notice])
    assert.strictEqual(mail.messageId, id)
    assert.strictEqual(mail.inReplyTo, inReplyTo)
    const subject = mailOf(team, [raised]).subject
    assert.strictEqual(mail.subject, inReplyTo === undefined ? subject : `Re: ${subject}`)
    assert.deepStrictEqual(mailOf(team, [notice]), mail)
  })

  it("about a question of the same name in another project has another id", () => {
    const other: QuestionNotice = { _tag: "Raised", question: { ...asked, raisedAt: timeAt(1) } }
    assert.notStrictEqual(mailOf(team, [other]).messageId, first)
  })

  it("about several questions belongs to none of them", () => {
    const mail = mailOf(team, [answered, withdrawn])
    assert.strictEqual(mail.subject, "No longer needed: 2 questions")
    assert.notProperty(mail, "messageId")
    assert.notProperty(mail, "inReplyTo")
  })

  it("of 'notify test' says that it is one", () => {
    assert.strictEqual(mailOf(team, [{ _tag: "Test", id: "t1" }]).subject, "Reprise reaches this channel")
  })
})

describe("an e-mail that the server does not take", () => {
  it.each([
    [{ responseCode: 451, command: "DATA" }, "Failed", "it answered 451", false],
    [{ responseCode: 421, command: "CONN" }, "Failed", "it answered 421", false],
    [{ responseCode: 454, command: "AUTH PLAIN" }, "Failed", "it answered 454", false],
    [{ responseCode: 550, command: "RCPT TO" }, "Refused", "it refuses the recipient (550)"],
    [{ responseCode: 553, command: "MAIL FROM" }, "Refused", "it refuses the sender (553)"],
    [{ responseCode: 535, command: "AUTH LOGIN" }, "Refused", "it refuses the user or the password (535)"],
    [{ responseCode: 554, command: "DATA" }, "Refused", "it refuses the message (554)"],
    [{ responseCode: 554, command: "CONN" }, "Refused", "it answered 554"],
    [{ responseCode: 502, command: "STARTTLS" }, "Refused", /no STARTTLS.*\(502\)/],
    [{ code: "EAUTH" }, "Refused", /no way to sign in/],
    [{ code: "EMESSAGE" }, "Refused", /no message of this size/],
    [{ code: "EDNS", originalCode: "ENOTFOUND" }, "Failed", "it cannot be reached (ENOTFOUND)", false],
    [{ code: "ESOCKET", originalCode: "ECONNREFUSED" }, "Failed", "it cannot be reached (ECONNREFUSED)", false],
    [{ code: "ESOCKET", originalCode: "ECONNRESET" }, "Failed", "it cannot be reached (ECONNRESET)", true],
    [{ code: "ECONNECTION" }, "Failed", "it cannot be reached (ECONNECTION)", true],
    [{ code: "ETLS" }, "Failed", "it cannot be reached over TLS (ETLS)", false],
    [{ code: "EABORT" }, "Failed", "it did not answer within 10 seconds", true],
    [{}, "Failed", "it cannot be reached (unknown)", true]
  ] as const)("because of %j is %s", (trouble, tag, reason, maybeReceived?: boolean) => {
    const outcome = mailOutcome(trouble, 10_000)
    assert.strictEqual(outcome._tag, tag)
    if (outcome._tag === "Delivered") return
    assert.match(
      outcome.reason,
      typeof reason === "string" ? new RegExp(`^${reason.replace(/[()]/g, "\\$&")}$`) : reason
    )
    if (outcome._tag === "Failed") assert.strictEqual(outcome.maybeReceived, maybeReceived)
  })
})

describe("the address of a mail server", () => {
  it.each([
    ["smtps://mail.example.org", { host: "mail.example.org", port: 465, isTls: true, isLocal: false }],
    ["smtps://mail.example.org:8465/", { host: "mail.example.org", port: 8465, isTls: true, isLocal: false }],
    ["smtp://mail.example.org", { host: "mail.example.org", port: 587, isTls: false, isLocal: false }],
    ["smtp://localhost:1025", { host: "localhost", port: 1025, isTls: false, isLocal: true }],
    ["smtp://127.0.0.1:25", { host: "127.0.0.1", port: 25, isTls: false, isLocal: true }],
    ["smtp://[::1]:25", { host: "::1", port: 25, isTls: false, isLocal: true }],
    ["smtp://127.0.0.1.example.org", { host: "127.0.0.1.example.org", port: 587, isTls: false, isLocal: false }],
    ["smtp://127.0.0.256:25", { host: "127.0.0.256", port: 25, isTls: false, isLocal: false }],
    ["smtp://127.0.0.01:25", { host: "127.0.0.01", port: 25, isTls: false, isLocal: false }],
    ["smtp://0.0.0.0:25", { host: "0.0.0.0", port: 25, isTls: false, isLocal: false }]
  ])("%s leads to %j", (url, server) => {
    assert.isUndefined(addressProblem(url, "email"))
    assert.deepStrictEqual(mailServerOf(url), server)
  })

  it.each([
    ["nonsense", /an address such as smtps:/],
    ["https://mail.example.org", /begins with smtps:/],
    ["smtps://ada:hush@mail.example.org", /without a user name or password/],
    ["smtps://", /a server alone|an address such as/],
    ["smtps://mail.example.org/inbox", /a server alone/],
    ["smtps://mail.example.org?tls=no", /a server alone/],
    ["smtp://mail%2eexample.org", /a server alone/]
  ])("is not %s", (url, expected) => {
    assert.match(addressProblem(url, "email") ?? "", expected)
  })
})

describe("the settings of an e-mail channel", () => {
  const decode = Schema.decodeUnknownExit(ChannelTable, { onExcessProperty: "error" })
  const wrong = (channel: object) => {
    const exit = decode({ mail: channel })
    return Exit.isFailure(exit) ? String(exit.cause) : "valid"
  }
  const settings = {
    preset: "email",
    url: "smtps://mail.example.org",
    from: "r@example.org",
    to: "a@example.org"
  } as const

  it.each<[ChannelSettings]>([
    [settings],
    [{ ...settings, url: "env:SMTP", user: "ada", password: "file:~/smtp" }],
    [{ ...settings, to: ["a@example.org", "b.c+d@mail.example.org"], reminders: false }]
  ])("may be %j", (channel) => {
    assert.deepStrictEqual(decode({ mail: channel }), Exit.succeed({ mail: channel }))
  })

  it.each([
    [{ ...settings, from: undefined }, /the addresses from and to/],
    [{ ...settings, to: undefined }, /the addresses from and to/],
    [{ ...settings, to: [] }, /mail/],
    [{ ...settings, to: "a@example.org\r\nBcc: eve@example.org" }, /Expected one address/],
    [{ ...settings, to: "a@example.org, b@example.org" }, /Expected one address/],
    [{ ...settings, to: "Ada <a@example.org>" }, /Expected one address/],
    [{ ...settings, to: `${"a".repeat(64)}@${"b.".repeat(100)}org` }, /Expected one address/],
    [{ ...settings, from: "ada" }, /Expected one address/],
    [{ ...settings, from: "r@example.org\n" }, /Expected one address/],
    [{ ...settings, url: undefined }, /Expected a url/],
    [{ ...settings, url: "smtps://ada:hush@mail.example.org" }, /without a user name or password/],
    [{ ...settings, user: "ada" }, /user and password together/],
    [{ ...settings, password: "env:P" }, /user and password together/],
    [{ ...settings, user: "a\r\nb", password: "env:P" }, /the name of a user/],
    [{ ...settings, user: "ada", password: "in the clear" }, /env:NAME or file:/],
    [{ ...settings, token: "env:T" }, /no token: only the presets ntfy and telegram take one/],
    [{ preset: "slack", url: "env:U", to: "a@example.org" }, /no to: only the preset email takes one/],
    [{ preset: "desktop", url: "https://a.example" }, /no url: only the presets webhook, .* and email take one/]
  ])("are not %j", (channel, expected) => {
    const given = Object.fromEntries(Object.entries(channel).filter(([, value]) => value !== undefined))
    assert.match(wrong(given), expected)
    assert.notInclude(wrong({ ...given, url: "smtps://ada:hush@mail.example.org" }), "hush@")
  })

  it("show those who are to trust them where mail goes, as whom, and with which secret", () => {
    assert.strictEqual(
      channelLine("mail", { ...settings, to: ["a@example.org", "b@example.org"], user: "ada", password: "env:P" }),
      "mail: email to smtps://mail.example.org, for a@example.org, b@example.org, from r@example.org, as ada, with env:P"
    )
    assert.strictEqual(channelLine("here", { preset: "desktop" }), "here: desktop of this machine")
  })

  it.effect("name the variable of a password that is missing, and hold none that is there", () =>
    Effect.gen(function* () {
      const table = { mail: { ...settings, user: "ada", password: "env:SMTP_PASSWORD" } } as const
      const unset = yield* Effect.flip(resolveChannels(table, {}))
      assert.match(unset.message, /password of notification channel 'mail' is missing: SMTP_PASSWORD is not set/)
      const [channel] = yield* resolveChannels(table, { SMTP_PASSWORD: " hush\n" })
      assert.strictEqual(channel?.preset, "email")
      assert.strictEqual(
        channel?.preset === "email" && Redacted.value(channel.login?.password ?? Redacted.make("")),
        "hush"
      )
      assert.notInclude(JSON.stringify(channel), "hush")
    })
  )
})

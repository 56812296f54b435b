import { createHmac } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import type { EscalationView } from "@reprise/protocol"
import { Redacted } from "effect"
import { linkView } from "../src/console/linkView.ts"
import {
  type AnswerLink,
  answerLinkMs,
  issueAnswerLink,
  offeredAnswers,
  readAnswerLink
} from "../src/notify/answerLink.ts"
import { mailOf } from "../src/notify/mailOf.ts"
import { type Notice, noticeQuestion, type QuestionNotice } from "../src/notify/Notice.ts"
import { type Destination, requestOf } from "../src/notify/requestOf.ts"
import { isSame, signWith } from "../src/work/signing.ts"
import { option, question, stepOptions, timeAt } from "./fixtures.ts"

const sign = signWith(Redacted.make("a key of this test"))
const link: AnswerLink = { escalationId: "r1-e1", choice: "fix", channel: "team", expiresAt: 2_000 }
const issued = issueAnswerLink(link, sign)
const [claim = "", signature = ""] = issued.split(".")
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url")
const signed = (value: unknown) => {
  const text = encode(value)
  return `${text}.${sign(`reprise-answer-1.${text}`)}`
}

describe("a link that answers", () => {
  it("is read back by the machine that made it, and is HMAC-SHA256 of what it answers", () => {
    assert.deepStrictEqual(readAnswerLink(issued, sign, isSame), link)
    const expected = createHmac("sha256", "a key of this test").update(`reprise-answer-1.${claim}`).digest("base64url")
    assert.strictEqual(signature, expected)
  })

  it.each([
    ["with another question", `${encode(["r1-e2", "fix", "team", 2_000])}.${signature}`],
    ["with another choice", `${encode(["r1-e1", "abort", "team", 2_000])}.${signature}`],
    ["with another channel", `${encode(["r1-e1", "fix", "other", 2_000])}.${signature}`],
    ["with a later end", `${encode(["r1-e1", "fix", "team", 9_000])}.${signature}`],
    ["signed with another key", issueAnswerLink(link, signWith(Redacted.make("another")))],
    ["signed for another purpose", `${claim}.${sign(claim)}`],
    ["without its signature", claim],
    ["cut off", issued.slice(0, -1)],
    ["with more behind it", `${issued}.`],
    ["signed over another shape", signed(["r1-e1", "fix", 2_000])],
    ["signed over no JSON", `x.${sign("reprise-answer-1.x")}`],
    ["that is empty", ""],
    ["that is huge", `${"A".repeat(1_000_000)}.${signature}`]
  ])("is refused %s", (_, text) => {
    assert.isUndefined(readAnswerLink(text, sign, isSame))
  })
})

const asked = question({
  options: [
    option("continue-session", { label: "continue session (resume the interrupted agent)", guidance: "optional" }),
    option("other", { guidance: "required" }),
    option("un\u202eseen"),
    option("abort")
  ]
})
const raised: QuestionNotice = { _tag: "Raised", question: noticeQuestion(asked, timeAt(0)) }
const origin = "https://reprise.example.org"
const offer = (...notices: readonly [Notice, ...ReadonlyArray<Notice>]) =>
  offeredAnswers("team", notices, origin, 5_000, sign)

describe("the answers that a message offers", () => {
  it("are the choices that need no words and have a plain name, each with its own link behind #", () => {
    const offered = offer(raised)
    assert.deepStrictEqual(
      offered.map(({ choice, label }) => [choice, label]),
      [
        ["continue-session", "continue session"],
        ["abort", "abort"]
      ]
    )
    for (const { choice, url } of offered) {
      const [page, text = ""] = url.split("#")
      assert.strictEqual(page, `${origin}/answer`)
      assert.deepStrictEqual(readAnswerLink(text, sign, isSame), {
        escalationId: "r1-e1",
        choice,
        channel: "team",
        expiresAt: (5_000 + answerLinkMs) / 1000
      })
    }
  })

  it("are of one open question alone", () => {
    const { question: about } = raised
    assert.deepStrictEqual(offer(raised, raised), [])
    assert.deepStrictEqual(offer({ _tag: "Answered", question: about, choice: "fix", by: "ada", via: "cli" }), [])
    assert.deepStrictEqual(offer({ _tag: "Withdrawn", question: about, reason: "run-ended" }), [])
    assert.deepStrictEqual(offer({ _tag: "Test", id: "t" }), [])
    assert.lengthOf(offer({ _tag: "Reminder", question: about, count: 1 }), 2)
  })
})

const to = (preset: Destination["preset"]): Destination => ({
  name: "team",
  preset,
  url: "https://a.example/b",
  chat: "1"
})
const answers = offer(raised)
const urls = answers.map(({ url }) => url)
const bodyOf = (preset: Destination["preset"], at = origin) =>
  JSON.parse(requestOf(to(preset), [raised], at, offeredAnswers("team", [raised], at, 5_000, sign)).body)

describe("links that answer", () => {
  it("are in a webhook's body with the choice and the end, which adds nothing to the question", () => {
    const body = bodyOf("webhook")
    const expiresAt = new Date(5_000 + answerLinkMs).toISOString()
    assert.deepStrictEqual(
      body.answers,
      answers.map(({ choice, url }) => ({ choice, link: url, expiresAt }))
    )
    assert.notProperty(body.question, "oneTap")
  })

  it("are buttons of Slack, of Telegram and of ntfy, which shows three", () => {
    const [, , actions] = bodyOf("slack").blocks
    assert.deepStrictEqual(
      actions.elements.map(({ url }: { readonly url: string }) => url),
      [`${origin}/questions/r1-e1`, ...urls]
    )
    assert.deepStrictEqual(bodyOf("telegram").reply_markup, {
      inline_keyboard: answers.map(({ label, url }) => [{ text: label, url }])
    })
    const { actions: shown } = bodyOf("ntfy")
    assert.deepStrictEqual(
      shown.map(({ label }: { readonly label: string }) => label),
      ["Open", "continue session", "abort"]
    )
  })

  it.each([
    "http://127.0.0.1:7417",
    "http://reprise.example.org",
    "https://localhost",
    "https://10.0.0.1",
    "https://box.local",
    "https://[fd00::1]"
  ])("are text where Telegram would refuse a button, such as for %s", (at) => {
    const { reply_markup, text } = bodyOf("telegram", at)
    assert.isUndefined(reply_markup)
    assert.include(text, `continue session:\n${at}/answer#`)
  })

  it("are lines of an e-mail, and the longest message with the most answers stays within Telegram's limit", () => {
    const { text } = mailOf({ name: "team", from: "a@b.c", to: ["d@e.f"] }, [raised], origin, answers)
    for (const { label, url } of answers) assert.include(text, `\n\n${label}:\n${url}`)
    const long = noticeQuestion(
      question({
        reason: "x".repeat(100_000),
        options: Array.from({ length: 20 }, (_, n) => option(`${"y".repeat(118)}${n}`))
      }),
      timeAt(0)
    )
    const notice: QuestionNotice = { _tag: "Raised", question: long }
    const many = offeredAnswers("team", [notice], "http://localhost", 5_000, sign)
    const body = JSON.parse(requestOf(to("telegram"), [notice], "http://localhost", many).body)
    assert.isAtMost(body.text.length, 4_096)
  })
})

describe("the page of a link", () => {
  const open = {
    ...question({ options: stepOptions, evidence: { commit: "abc", lastLines: "SECRET" } }),
    raisedAt: timeAt(0),
    state: "open"
  } as unknown as EscalationView
  const closed = (more: Partial<EscalationView>): EscalationView => ({
    ...open,
    state: "answered",
    via: "link",
    ...more
  })

  it.each<[string, EscalationView, number, string]>([
    ["open, before its end", open, 1_999_999, "open"],
    ["expired, from its end on", open, 2_000_000, "expired"],
    ["used, when its own answer was given", closed({ choice: "fix", by: "someone in team" }), 0, "used"],
    ["used, also after its end", closed({ choice: "fix", by: "someone in team" }), 9_999_999, "used"],
    ["closed, when another link was used", closed({ choice: "abort", by: "someone in team" }), 0, "closed"],
    ["closed, when another channel's was used", closed({ choice: "fix", by: "someone in other" }), 0, "closed"],
    ["closed, when it was answered elsewhere", closed({ choice: "fix", by: "ada", via: "cli" }), 0, "closed"],
    ["closed, when it was withdrawn", { ...open, state: "withdrawn" }, 0, "closed"]
  ])("is %s", (_, view, nowMs, state) => {
    assert.strictEqual(linkView(link, view, nowMs).state, state)
  })

  it("shows what the message shows: no evidence and no words of a human", () => {
    const shown = linkView(link, closed({ choice: "fix", by: "ada", guidance: "SECRET" }), 0)
    assert.notInclude(JSON.stringify(shown), "SECRET")
    assert.deepInclude(shown, { choice: "fix", label: "fix", commit: "abc", expiresAt: "1970-01-01T00:33:20.000Z" })
  })
})

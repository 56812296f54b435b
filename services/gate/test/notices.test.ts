/** The pure parts of notifications, as tables. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Redacted, Schema } from "effect"
import { isOver, outcomeOf, pauseMs, readRetryAfter } from "../src/notify/attempts.ts"
import { batchesOf } from "../src/notify/batches.ts"
import { ChannelTable } from "../src/notify/ChannelSettings.ts"
import { deliveryIdOf, noticeQuestion, type QuestionNotice } from "../src/notify/Notice.ts"
import { fitText, plainText, utf8Size } from "../src/notify/plainText.ts"
import { QuietHours, quietForMs } from "../src/notify/quietHours.ts"
import { type Destination, requestOf } from "../src/notify/requestOf.ts"
import { resolveChannels } from "../src/work/notify/Channel.ts"
import { signature } from "../src/work/notify/sign.ts"
import { question, timeAt } from "./fixtures.ts"
import { verified } from "./support/verified.ts"

const hostile = "Which <!channel> & \u001b[31mred\u202e\u0000?"
const asked = noticeQuestion(question({ reason: hostile, evidence: { planTitle: "Plan <b>" } }), timeAt(0))
const raised: QuestionNotice = { _tag: "Raised", question: asked }
const reminder: QuestionNotice = { _tag: "Reminder", question: asked, count: 3 }
const answered: QuestionNotice = { _tag: "Answered", question: asked, choice: "fix", by: "ada", via: "cli" }
const withdrawn: QuestionNotice = { _tag: "Withdrawn", question: asked, reason: "agent-working" }

const to = (preset: Destination["preset"], url: string, token?: string): Destination => ({
  name: "team",
  preset,
  url,
  ...(token === undefined ? {} : { token })
})
const origin = "https://reprise.example.org"
const bodyOf = (destination: Destination, notice: QuestionNotice, link?: string): Record<string, unknown> =>
  JSON.parse(requestOf(destination, [notice], link).body)

describe("an id of a delivery", () => {
  it.each([
    [raised, "r1-e1.team.raised"],
    [reminder, "r1-e1.team.reminder.3"],
    [answered, "r1-e1.team.answered"],
    [withdrawn, "r1-e1.team.withdrawn"]
  ])("is of a question, a channel and a kind", (notice, id) => {
    assert.strictEqual(deliveryIdOf("team", notice), id)
    assert.strictEqual(requestOf(to("slack", "https://a.example"), [notice]).headers["reprise-delivery"], id)
  })
})

describe("the body of a webhook", () => {
  const hook = to("webhook", "https://a.example/hook")

  it("holds what is asked, without control characters, and the link", () => {
    assert.containSubset(bodyOf(hook, raised, origin), {
      version: 1,
      kind: "raised",
      subject: "r1-e1.team",
      link: "https://reprise.example.org/questions/r1-e1",
      question: { reason: "Which <!channel> & \ufffd[31mred\ufffd\ufffd?", plan: "Plan <b>" }
    })
  })

  it.each([
    [reminder, { kind: "reminder", reminder: 3 }],
    [answered, { kind: "answered", closed: { by: "ada", via: "cli", choice: "fix" } }],
    [withdrawn, { kind: "withdrawn", closed: { reason: "agent-working" } }]
  ])("says which kind it is", (notice, expected) => {
    assert.containSubset(bodyOf(hook, notice), expected)
    assert.notProperty(bodyOf(hook, notice), "link")
  })

  it("has no output, no changes and no conversation", () => {
    const secretive = question({
      evidence: { lastLines: "LAST", diffStat: "DIFF", willBeTold: [{ role: "author", text: "TOLD" }] }
    })
    const { body } = requestOf(hook, [{ _tag: "Raised", question: noticeQuestion(secretive, timeAt(0)) }])
    assert.notMatch(body, /LAST|DIFF|TOLD/)
  })
})

describe("a message of Slack", () => {
  const slack = to("slack", "https://hooks.example/secret")

  it("escapes what Slack would read as markup, and links to the question by a button", () => {
    const { body } = requestOf(slack, [raised], origin)
    assert.notInclude(body, "<!channel>")
    assert.include(body, "&lt;!channel&gt; &amp; ")
    assert.containSubset(JSON.parse(body), {
      blocks: [
        { type: "header", text: { type: "plain_text", text: "Reprise needs you: Plan <b>, phase 2" } },
        { type: "section" },
        { type: "actions", elements: [{ type: "button", url: `${origin}/questions/r1-e1` }] }
      ]
    })
  })

  it("stays within Slack's limits for the longest question", () => {
    const long = question({ reason: "<".repeat(100_000), evidence: { planTitle: "&".repeat(10_000) } })
    const notice: QuestionNotice = { _tag: "Raised", question: noticeQuestion(long, timeAt(0)) }
    const { blocks } = bodyOf(slack, notice) as { blocks: ReadonlyArray<{ text: { text: string } }> }
    assert.isAtMost(blocks[0]?.text.text.length ?? 0, 150)
    assert.isAtMost(blocks[1]?.text.text.length ?? 0, 3_000)
  })

  it("says that the question needs no answer any more", () => {
    assert.match(JSON.stringify(bodyOf(slack, answered)), /No longer needed.*ada answered 'fix' through cli/)
    assert.match(JSON.stringify(bodyOf(slack, withdrawn)), /No longer needed.*The agent continues by itself/)
  })
})

describe("a message of ntfy", () => {
  it.each([
    ["https://ntfy.sh/topic", "https://ntfy.sh/", "topic"],
    ["http://10.0.0.1:8080/base/a%20b/", "http://10.0.0.1:8080/base", "a b"]
  ])("goes to the server of %s as JSON with the topic", (url, root, topic) => {
    const request = requestOf(to("ntfy", url, "tk_1"), [raised], origin)
    assert.strictEqual(request.url, root)
    assert.strictEqual(request.headers["authorization"], "Bearer tk_1")
    assert.containSubset(JSON.parse(request.body), {
      topic,
      title: "Reprise needs you: Plan <b>, phase 2",
      click: `${origin}/questions/r1-e1`,
      actions: [{ action: "view", label: "Open", url: `${origin}/questions/r1-e1` }]
    })
  })
})

describe("a message of Telegram", () => {
  const chat: Destination = { ...to("telegram", "https://api.telegram.org/", "1:abc"), chat: "-100123" }

  it("goes to the bot's own method, as plain text with the link", () => {
    const request = requestOf(chat, [raised], origin)
    assert.strictEqual(request.url, "https://api.telegram.org/bot1:abc/sendMessage")
    const body = JSON.parse(request.body)
    assert.containSubset(body, { chat_id: "-100123", link_preview_options: { is_disabled: true } })
    assert.notProperty(body, "parse_mode")
    assert.match(body.text, /^Reprise needs you: Plan <b>, phase 2\n\nWhich <!channel>/)
    assert.match(body.text, /\n\nhttps:\/\/reprise\.example\.org\/questions\/r1-e1$/)
    assert.notInclude(request.body, "1:abc")
  })
})

describe("a batch", () => {
  const notices = Array.from(
    { length: 12 },
    (_, n): QuestionNotice => ({
      _tag: "Raised",
      question: { ...asked, reason: `Question\n${n}?` }
    })
  )
  const [first = raised, ...others] = notices
  const message = (destination: Destination) => requestOf(destination, [first, ...others], origin)

  it("is one message about one kind: raised, reminders, or questions that are over", () => {
    const waiting = [raised, answered, reminder, raised, withdrawn].map((notice) => ({ notice }))
    assert.deepStrictEqual(
      batchesOf(waiting).map((batch) => batch.map(({ notice }) => notice._tag)),
      [["Raised", "Raised"], ["Answered", "Withdrawn"], ["Reminder"]]
    )
    assert.deepStrictEqual(batchesOf([]), [])
  })

  it("names ten questions on a line each, counts the others, and links to the list of all", () => {
    const { body, headers } = message(to("ntfy", "https://ntfy.sh/topic"))
    assert.notProperty(headers, "reprise-delivery")
    const { click, message: text, title } = JSON.parse(body)
    assert.strictEqual(title, "Reprise needs you: 12 questions")
    assert.strictEqual(click, origin)
    const lines = String(text).split("\n")
    assert.lengthOf(lines, 12)
    assert.strictEqual(lines[0], "• Plan <b>, phase 2: Question 0? (r1-e1)")
    assert.strictEqual(lines[10], "and 2 more")
  })

  it("stays within the limits of Slack and ntfy, however long the questions are", () => {
    const long = (text: string): QuestionNotice => ({
      _tag: "Raised",
      question: noticeQuestion(
        question({
          reason: text.repeat(5_000),
          evidence: { planTitle: text.repeat(500), phaseTitle: text.repeat(500) }
        }),
        timeAt(0)
      )
    })
    const many = (text: string) => [long(text), ...Array.from({ length: 300 }, () => long(text))] as const
    const { blocks } = JSON.parse(requestOf(to("slack", "https://a.example"), many("<")).body)
    assert.isAtMost(blocks[1].text.text.length, 3_000)
    const { message: text } = JSON.parse(requestOf(to("ntfy", "https://ntfy.sh/t"), many("😀")).body)
    assert.isAtMost(Buffer.byteLength(text), 4_096)
  })
})

describe("plain text", () => {
  it.each([
    ["short", 10, "short"],
    ["0123456789", 10, "0123456789"],
    ["0123456789a", 10, "012345678…"],
    ["a\r\nb\tc", 10, "a\nb c"],
    ["😀😀😀", 2, "😀…"],
    ["half \ud83d", 10, "half \ufffd"]
  ])("of %j with at most %i characters is %j", (text, longest, expected) => {
    assert.strictEqual(plainText(text, longest), expected)
  })
})

describe("a text that must fit", () => {
  it.each([
    ["abc", 3, "abc"],
    ["abcdef", 5, "ab…"],
    ["äöü", 6, "äöü"],
    ["äöüx", 6, "ä…"],
    ["😀😀", 7, "😀…"]
  ])("of %j into %i bytes is %j", (text, most, expected) => {
    assert.strictEqual(fitText(text, most, utf8Size), expected)
    assert.isAtMost(Buffer.byteLength(fitText(text, most, utf8Size)), most)
  })
})

describe("an answer to a delivery", () => {
  it.each([
    [200, "Delivered"],
    [204, "Delivered"],
    [301, "Refused"],
    [307, "Refused"],
    [400, "Refused"],
    [401, "Refused"],
    [404, "Refused"],
    [410, "Refused"],
    [408, "Failed"],
    [425, "Failed"],
    [429, "Failed"],
    [500, "Failed"],
    [503, "Failed"]
  ])("of %i means %s", (status, outcome) => {
    assert.strictEqual(outcomeOf(status, null, 0)._tag, outcome)
  })

  it.each([
    [null, undefined],
    ["120", 120_000],
    ["999999", 3_600_000],
    ["0", undefined],
    ["-1", undefined],
    ["soon", undefined],
    ["Thu, 01 Jan 1970 00:01:00 GMT", 60_000]
  ])("with Retry-After %j asks for a pause of %j ms", (header, expected) => {
    assert.strictEqual(readRetryAfter(header, 0), expected)
  })
})

describe("attempts", () => {
  it("are further and further apart, up to 20 minutes, and few enough in a day for the worker's limit", () => {
    assert.deepStrictEqual([1, 2, 3, 11, 12, 100].map(pauseMs), [1_000, 2_000, 4_000, 1_024_000, 1_200_000, 1_200_000])
    let [attempts, time] = [0, 0]
    while (time < 24 * 60 * 60_000) time += pauseMs(++attempts)
    assert.isBelow(attempts, 90)
  })

  it.each([
    ["question", 24 * 60, false],
    ["question", 24 * 60 + 1, true],
    ["reminder", 60, false],
    ["reminder", 61, true]
  ] as const)("of a %s after %i minutes are over: %j", (kind, minutes, expected) => {
    assert.strictEqual(isOver(kind, timeAt(0), Date.parse(timeAt(minutes))), expected)
  })
})

describe("quiet hours", () => {
  it.each([
    [undefined, 0, 0],
    ["22:00-07:00", 21 * 60 + 59, 0],
    ["22:00-07:00", 22 * 60, 9 * 60],
    ["22:00-07:00", 0, 7 * 60],
    ["22:00-07:00", 6 * 60 + 59, 1],
    ["22:00-07:00", 7 * 60, 0],
    ["12:30-13:00", 12 * 60 + 45, 15],
    ["12:30-13:00", 13 * 60, 0],
    ["08:00-08:00", 8 * 60, 0]
  ])("%j at minute %i of the day last %i minutes more", (hours, minute, left) => {
    assert.strictEqual(quietForMs(hours, minute), left * 60_000)
  })

  it.each(["22:00", "24:00-07:00", "22-7", "22:60-07:00"])("are not written as %j", (text) => {
    assert.isFalse(Schema.is(QuietHours)(text))
  })
})

describe("the signature", () => {
  it.effect("is verified by the example of the documentation, unless it is old, or of another body or secret", () =>
    Effect.gen(function* () {
      const now = Date.parse(timeAt(0))
      const header = signature(Redacted.make("s"), now, "{}")
      const cases = [
        ["s", "{}", now, true],
        ["s", "{}", now + 299_000, true],
        ["s", "{}", now + 301_000, false],
        ["s", "{ }", now, false],
        ["t", "{}", now, false]
      ] as const
      for (const [secret, body, at, expected] of cases) {
        assert.strictEqual(yield* verified(secret, header, body, at), expected)
      }
      assert.isFalse(yield* verified("s", "v1=0", "{}", now))
    })
  )
})

describe("the settings of channels", () => {
  const decode = Schema.decodeUnknownExit(ChannelTable, { onExcessProperty: "error" })
  const wrong = (channel: object) => {
    const exit = decode({ team: channel })
    return Exit.isFailure(exit) ? String(exit.cause) : "valid"
  }

  it("accept each preset", () => {
    const table: ChannelTable = {
      team: { preset: "slack", url: "env:SLACK" },
      chat: { preset: "telegram", token: "env:BOT", chat: "-100123" },
      phone: { preset: "ntfy", url: "https://ntfy.sh/topic", token: "file:~/token" },
      hook: { preset: "webhook", url: "https://a.example", secret: "env:SECRET", reminders: false },
      here: { preset: "desktop" }
    }
    assert.deepStrictEqual(decode(table), Exit.succeed(table))
  })

  it.each([
    [{ preset: "pigeon", url: "https://a.example" }, /"webhook" \| "ntfy" \| "slack" \| "telegram"/],
    [{ preset: "webhook", url: "ftp://a.example", secret: "env:S" }, /begins with https:/],
    [{ preset: "webhook", url: "nonsense", secret: "env:S" }, /an address such as/],
    [{ preset: "webhook", url: "https://me:pass@a.example", secret: "env:S" }, /without a user name or password/],
    [{ preset: "webhook", url: "https://a.example" }, /a secret to sign with/],
    [{ preset: "webhook", url: "https://a.example", secret: "in clear" }, /env:NAME or file:/],
    [{ preset: "slack", url: "https://hooks.example/secret" }, /url as env:NAME/],
    [{ preset: "ntfy", url: "https://ntfy.sh/" }, /ends in a topic/],
    [{ preset: "ntfy", url: "https://ntfy.sh/my%zztopic" }, /ends in a topic/],
    [
      { preset: "telegram", url: "https://bots.example.org/#", token: "file:~/token", chat: "1" },
      /without '\?' and '#'/
    ],
    [{ preset: "telegram", url: "https://bots.example.org/?to=", token: "file:~/token", chat: "1" }, /without '\?'/],
    [{ preset: "ntfy", url: "https://ntfy.sh/t", secret: "env:S" }, /no secret: only the preset webhook takes one/],
    [{ preset: "slack", url: "env:U", token: "env:T" }, /only the presets ntfy and telegram take one/],
    [{ preset: "ntfy" }, /Expected a url/],
    [{ preset: "telegram", token: "env:T" }, /the id of a chat/],
    [{ preset: "telegram", chat: "-1" }, /bot's token/],
    [{ preset: "telegram", token: "env:T", chat: "my chat" }, /such as -100123/],
    [{ preset: "ntfy", url: "https://ntfy.sh/t", chat: "-1" }, /no chat: only the preset telegram takes one/],
    [{ preset: "slack", url: "env:U", remindres: false }, /remindres/]
  ])("refuse %j", (channel, expected) => {
    assert.match(wrong(channel), expected)
  })

  it.effect("name the variable of a secret that is missing, and never quote a secret that is wrong", () =>
    Effect.gen(function* () {
      const table = { team: { preset: "slack", url: "env:SLACK" } } as const
      const unset = yield* Effect.flip(resolveChannels(table, {}))
      assert.match(unset.message, /address of notification channel 'team' is missing: SLACK is not set/)
      const invalid = yield* Effect.flip(resolveChannels(table, { SLACK: "hush" }))
      assert.match(invalid.message, /from env:SLACK, is not valid/)
      assert.notInclude(JSON.stringify(invalid), "hush")
      const [channel] = yield* resolveChannels(table, { SLACK: " https://hooks.example/x\n" })
      assert.strictEqual(channel?.preset === "slack" ? Redacted.value(channel.url) : "", "https://hooks.example/x")
      assert.notInclude(JSON.stringify(channel), "hooks.example")
    })
  )
})

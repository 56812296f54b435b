import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { briefView } from "../src/actor/briefView.ts"
import { type Asked, admit, originsOf } from "../src/console/admission.ts"
import { streamMessage, whereToStart } from "../src/console/eventStream.ts"
import { allEnded, claimIn, endOf, issueSession, makeSessions, sessionMs, withEnded } from "../src/console/session.ts"
import { question as raise } from "./fixtures.ts"

const { _tag, ...asked } = raise()
const own = "http://127.0.0.1:7417"
const origins = originsOf(7417, "https://reprise.example.org")

const read: Asked = {
  access: "reader",
  method: "GET",
  host: "127.0.0.1:7417",
  origin: undefined,
  fetchSite: "same-origin",
  contentType: undefined,
  role: "answerer"
}
const { role: _, ...nobody } = read
const write: Asked = {
  ...read,
  access: "answerer",
  method: "POST",
  origin: own,
  contentType: "application/json"
}
const { role: _role, ...nobodyWrites } = write
const proof: Asked = { ...nobodyWrites, access: "own proof" }
const viewer: Asked = { ...write, role: "viewer" }

const outcomeOf = (asked: Asked): string => {
  const admitted = admit(asked, origins)
  return Result.isSuccess(admitted) ? "admitted" : admitted.failure.code
}

describe("which requests the console takes", () => {
  it.each<[string, Asked, string]>([
    ["data for its own page", read, "admitted"],
    ["data that a user opens by its address", { ...read, fetchSite: "none" }, "admitted"],
    ["data for a program without a browser", { ...read, fetchSite: undefined }, "admitted"],
    ["data through the proxy", { ...read, host: "reprise.example.org" }, "admitted"],
    ["data as localhost", { ...read, host: "localhost:7417" }, "admitted"],
    ["no data without a session", nobody, "signed-out"],
    ["no data under a name that leads here by its own DNS", { ...read, host: "evil.example:7417" }, "wrong-host"],
    ["no data without a host", { ...read, host: undefined }, "wrong-host"],
    ["no data for a page on another port of this machine", { ...read, fetchSite: "same-site" }, "cross-origin"],
    ["no data for a page elsewhere", { ...read, fetchSite: "cross-site" }, "cross-origin"],
    ["no data for another origin", { ...read, fetchSite: undefined, origin: "http://127.0.0.1:3000" }, "cross-origin"],
    ["no data for another origin's page that says no more", { ...read, origin: "null" }, "cross-origin"],
    ["no data under its own name with a dot at the end", { ...read, host: "localhost.:7417" }, "wrong-host"],
    ["no data under its own name without the port", { ...read, host: "127.0.0.1" }, "wrong-host"],
    ["no data under two names", { ...read, host: "127.0.0.1:7417, evil.example" }, "wrong-host"],
    ["pages for everybody, because they hold no data", { ...nobody, access: "public" }, "admitted"],
    ["pages by a link from elsewhere", { ...read, access: "public", fetchSite: "cross-site" }, "admitted"],
    ["no pages under another name", { ...read, access: "public", host: "evil.example" }, "wrong-host"],
    ["commands of its own page", write, "admitted"],
    ["no commands without a session", nobodyWrites, "signed-out"],
    ["no commands without an origin", { ...write, origin: undefined }, "cross-origin"],
    ["no commands of a page without an origin", { ...write, origin: "null" }, "cross-origin"],
    ["no commands of another port", { ...write, origin: "http://127.0.0.1:3000" }, "cross-origin"],
    ["no commands of a navigation", { ...write, fetchSite: "none" }, "cross-origin"],
    ["no commands of a form", { ...write, contentType: "application/x-www-form-urlencoded" }, "not-json"],
    [
      "no commands as text, which need no permission from a browser",
      { ...write, contentType: "text/plain" },
      "not-json"
    ],
    ["JSON with a character set", { ...write, contentType: "application/json; charset=utf-8" }, "admitted"],
    ["no JSON that names two types", { ...write, contentType: "application/json, text/plain" }, "not-json"],
    ["no command by a method that no route has", { ...nobody, method: "TRACE", origin: own }, "not-json"],
    ["a proof without a session", proof, "admitted"],
    ["no proof of another page", { ...proof, origin: "https://evil.example" }, "cross-origin"],
    ["no proof as text", { ...proof, contentType: "text/plain" }, "not-json"],
    ["a viewer's proof of being somebody else", { ...proof, role: "viewer" }, "admitted"],
    ["data for a viewer", { ...read, role: "viewer" }, "admitted"],
    ["no data of answerers alone for a viewer", { ...read, access: "answerer", role: "viewer" }, "viewer"],
    ["no command of a viewer", viewer, "viewer"],
    ["a viewer's sign-out", { ...viewer, access: "reader", method: "DELETE" }, "admitted"],
    ["no sign-out without a session", { ...nobodyWrites, access: "reader", method: "DELETE" }, "signed-out"]
  ])("takes %s", (_what, asked, outcome) => assert.strictEqual(outcomeOf(asked), outcome))
})

describe("a session", () => {
  const sign = (text: string) => `signed(${text})`
  const isSame = (a: string, b: string) => a === b
  const session = issueSession("0-a", 1_000, sign)

  it("holds until it ends, and names its claim", () => {
    const claim = claimIn(session, 1_000, sign, isSame)
    assert.isString(claim)
    assert.strictEqual(endOf(claim ?? ""), 1_000 + sessionMs)
    assert.strictEqual(claimIn(session, 999 + sessionMs, sign, isSame), claim)
    assert.isUndefined(claimIn(session, 1_000 + sessionMs, sign, isSame))
    assert.notStrictEqual(claimIn(issueSession("0-b", 1_000, sign), 1_000, sign, isSame), claim)
  })

  it("does not hold for another token", () =>
    assert.isUndefined(claimIn(session, 1_000, (text) => `other(${text})`, isSame)))

  it("is not what a cookie of earlier versions was, which other ports have seen", () => {
    const claim = `${1_000 + sessionMs}.0-a`
    assert.isUndefined(claimIn(`${claim}.${sign(claim)}`, 1_000, sign, isSame))
  })

  it.each([
    "",
    "x",
    "9999999999999.0-a.",
    "9999999999999.0-a.signed(session 1.0-a)",
    `${session}x`,
    ` ${session}`,
    `${session}, ${session}`
  ])("does not hold as %j", (changed) => assert.isUndefined(claimIn(changed, 1_000, sign, isSame)))
})

describe("the end of a session", () => {
  const started = () => {
    const sessions = makeSessions(2)
    const heard: Array<string> = []
    const listen = (claim: string) => sessions.onEnd(claim, () => heard.push(claim))
    for (const claim of ["1.a", "2.b"]) sessions.counts(claim)
    return { sessions, heard, listen }
  }

  it("is heard once by whoever listens to this session", () => {
    const { heard, listen, sessions } = started()
    listen("1.a")
    listen("2.b")
    sessions.end("1.a")
    sessions.end("1.a")
    assert.deepStrictEqual(heard, ["1.a"])
  })

  it("is heard when a newer session takes its place", () => {
    const { heard, listen, sessions } = started()
    listen("1.a")
    listen("2.b")
    assert.isTrue(sessions.counts("3.c"))
    assert.deepStrictEqual(heard, ["1.a"])
  })

  it("is heard at once by whoever comes too late, and not by whoever has stopped listening", () => {
    const { heard, listen, sessions } = started()
    listen("2.b")()
    sessions.end("1.a")
    sessions.end("2.b")
    listen("1.a")
    assert.deepStrictEqual(heard, ["1.a"])
  })
})

describe("the sessions that have ended", () => {
  it("stay ended in the next process, whether they were signed out or made room, and no others", () => {
    const sessions = makeSessions(2)
    for (const claim of ["1.a", "2.b", "3.c", "4.d"]) sessions.counts(claim)
    sessions.end("4.d")
    const next = makeSessions(9, sessions.ended())
    assert.deepStrictEqual(
      ["1.a", "2.b", "3.c", "4.d"].map((claim) => next.counts(claim)),
      [false, false, true, false]
    )
  })

  it("have one that came too late to take a place", () => {
    const sessions = makeSessions(1)
    sessions.counts("2.b")
    assert.isFalse(sessions.counts("1.a"))
    assert.isFalse(makeSessions(1, sessions.ended()).counts("1.a"))
  })

  it.each([
    ["one more", ["1.a"], "2.b", { claims: ["1.a", "2.b"], throughMs: 0 }],
    ["the same again", ["1.a", "2.b"], "1.a", { claims: ["2.b", "1.a"], throughMs: 0 }],
    ["one too many: all that end as early end, too", ["5.a", "2.b"], "4.c", { claims: ["5.a", "4.c"], throughMs: 2 }],
    ["one too many that is the earliest", ["5.a", "2.b"], "1.c", { claims: ["5.a", "2.b"], throughMs: 1 }],
    ["two of one time", ["2.a", "2.b"], "3.c", { claims: ["3.c"], throughMs: 2 }]
  ])("take %s", (_what, claims, claim, expected) =>
    assert.deepStrictEqual(withEnded({ claims, throughMs: 0 }, claim, 2), expected)
  )

  it("are all that were issued before, where nobody knows them", () => {
    const sessions = makeSessions(2, allEnded(1_000))
    assert.isFalse(sessions.counts(`${999 + sessionMs}.a`))
    assert.isTrue(sessions.counts(`${1_000 + sessionMs}.b`))
  })
})

describe("where the event stream of a browser starts", () => {
  const now = Date.UTC(2026, 0, 2, 10, 0, 10)
  const again = { resumed: false, from: { since: "2026-01-02T10:00:05.000Z" } } as const
  it.each([
    ["after its last event", "41", 100, { resumed: true, from: { sequence: 42 } }],
    ["after the newest event", "100", 100, { resumed: true, from: { sequence: 101 } }],
    ["a little earlier than now, when it has seen none", undefined, 100, again],
    ["again, when its last event is of another stream", "101", 100, again],
    ["again, when it was away for long", "1", 10_000, again],
    ["again, when the id is not a number", "1; DROP", 100, again]
  ] as const)("starts %s", (_where, id, last, start) => assert.deepStrictEqual(whereToStart(id, last, now), start))

  it("writes a message on lines of its own, whatever its text holds", () =>
    assert.strictEqual(
      streamMessage("event", { text: "a\n\nid: 9\ndata: b\r" }, 7),
      'id: 7\nevent: event\ndata: {"text":"a\\n\\nid: 9\\ndata: b\\r"}\n\n'
    ))
})

describe("a question in a list", () => {
  const question = {
    ...asked,
    raisedAt: "2026-01-02T10:00:00.000Z",
    state: "open",
    reason: "x".repeat(1_000),
    items: [{ id: "R1", title: "t", action: "auto_fix", reason: "", priority: "P0" }],
    evidence: { planPath: "PLAN.md", phaseTitle: "One", attempt: 2, lastLines: "y".repeat(9_000), cost: 1 }
  } as const

  it("says where it stands and how it begins, and leaves out the rest", () => {
    const entry = briefView(question)
    assert.strictEqual(entry.reason, `${"x".repeat(400)}…`)
    assert.deepStrictEqual(entry.evidence, { planPath: "PLAN.md", phaseTitle: "One", attempt: 2 })
    assert.notProperty(entry, "items")
    assert.strictEqual(entry.escalationId, question.escalationId)
    assert.strictEqual(briefView({ ...question, reason: "short" }).reason, "short")
  })
})

import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { type Asked, admit, originsOf } from "../src/console/admission.ts"
import { streamMessage, whereToStart } from "../src/console/eventStream.ts"
import { isSession, issueSession, sessionMs } from "../src/console/sessionCookie.ts"

const origins = originsOf(7417, "https://reprise.example.org")

const read: Asked = {
  method: "GET",
  path: "/api/questions",
  host: "127.0.0.1:7417",
  origin: undefined,
  fetchSite: "same-origin",
  contentType: undefined,
  isSignedIn: true
}
const write: Asked = {
  ...read,
  method: "POST",
  path: "/api/questions/r1-e1/answer",
  origin: "http://127.0.0.1:7417",
  contentType: "application/json"
}

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
    ["no data without a session", { ...read, isSignedIn: false }, "signed-out"],
    ["no data under a name that leads here by its own DNS", { ...read, host: "evil.example:7417" }, "wrong-host"],
    ["no data without a host", { ...read, host: undefined }, "wrong-host"],
    ["no data for a page on another port of this machine", { ...read, fetchSite: "same-site" }, "cross-origin"],
    ["no data for a page elsewhere", { ...read, fetchSite: "cross-site" }, "cross-origin"],
    ["no data for another origin", { ...read, fetchSite: undefined, origin: "http://127.0.0.1:3000" }, "cross-origin"],
    ["pages for everybody, because they hold no data", { ...read, path: "/runs", isSignedIn: false }, "admitted"],
    ["pages by a link from elsewhere", { ...read, path: "/questions/r1-e1", fetchSite: "cross-site" }, "admitted"],
    ["no pages under another name", { ...read, path: "/", host: "evil.example" }, "wrong-host"],
    ["commands of its own page", write, "admitted"],
    ["no commands without a session", { ...write, isSignedIn: false }, "signed-out"],
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
    ["a sign-in without a session", { ...write, path: "/api/session", isSignedIn: false }, "admitted"],
    ["no sign-in of another page", { ...write, path: "/api/session", origin: "https://evil.example" }, "cross-origin"],
    [
      "no sign-out without a session",
      { ...write, method: "DELETE", path: "/api/session", isSignedIn: false },
      "signed-out"
    ]
  ])("takes %s", (_what, asked, outcome) => assert.strictEqual(outcomeOf(asked), outcome))
})

describe("the session cookie", () => {
  const sign = (text: string) => `signed(${text})`
  const isSame = (a: string, b: string) => a === b
  const cookie = issueSession("0-a", 1_000, sign)

  it("holds until it ends", () => {
    assert.isTrue(isSession(cookie, 1_000, sign, isSame))
    assert.isTrue(isSession(cookie, 999 + sessionMs, sign, isSame))
    assert.isFalse(isSession(cookie, 1_000 + sessionMs, sign, isSame))
  })

  it("does not hold for another token", () =>
    assert.isFalse(isSession(cookie, 1_000, (text) => `other(${text})`, isSame)))

  it.each(["", "x", undefined, "9999999999999.0-a.", "9999999999999.0-a.signed(1.0-a)", `${cookie}x`, ` ${cookie}`])(
    "does not hold as %j",
    (changed) => assert.isFalse(isSession(changed, 1_000, sign, isSame))
  )
})

describe("where the event stream of a browser starts", () => {
  const now = Date.UTC(2026, 0, 2, 10, 0, 10)
  const anew = { resumed: false, from: { since: "2026-01-02T10:00:05.000Z" } } as const
  it.each([
    ["after its last event", "41", 100, { resumed: true, from: { sequence: 42 } }],
    ["after the newest event", "100", 100, { resumed: true, from: { sequence: 101 } }],
    ["a little earlier than now, when it has seen none", undefined, 100, anew],
    ["anew, when its last event is of another stream", "101", 100, anew],
    ["anew, when it was away for long", "1", 10_000, anew],
    ["anew, when the id is no number", "1; DROP", 100, anew]
  ] as const)("starts %s", (_where, id, last, start) => assert.deepStrictEqual(whereToStart(id, last, now), start))

  it("writes a message on lines of its own, whatever its text holds", () =>
    assert.strictEqual(
      streamMessage("event", { text: "a\n\nid: 9\ndata: b\r" }, 7),
      'id: 7\nevent: event\ndata: {"text":"a\\n\\nid: 9\\ndata: b\\r"}\n\n'
    ))
})

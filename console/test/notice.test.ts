import { assert, describe, it } from "@effect/vitest"
import {
  changesBy,
  lastWords,
  type Notice,
  noticeAfter,
  type Pushed,
  type Shown,
  type ToNotices
} from "../src/notices/Notice.ts"

const asked = (id: string, text = `Why ${id}?`) => ({ id, title: "The author needs you", text })
const raised = (id: string, text?: string): ToNotices => ({ type: "raised", question: asked(id, text) })
const closed = (id: string): ToNotices => ({ type: "closed", id })
const showing = (...ids: ReadonlyArray<string>): Shown => ({
  questions: ids.map((id) => ({ ...asked(id), heardAtMs: 0 })),
  calledAtMs: 0,
  path: "/"
})
const after = (shown: Shown | undefined, message: ToNotices, nowMs = 60_000, isLookedAt = false) =>
  noticeAfter(shown, message, nowMs, isLookedAt)
const noticed = (outcome: Notice | "unchanged" | undefined): Notice =>
  outcome === undefined || outcome === "unchanged" ? assert.fail(`${outcome}`) : outcome
const idsIn = ({ shown }: Notice) => shown.questions.map(({ id }) => id)

describe("the notice of a browser", () => {
  it("leads to the one question, and to the list of several", () => {
    const one = noticed(after(undefined, raised("r1-e1")))
    assert.deepInclude(one, { title: "The author needs you", body: "Why r1-e1?", calls: true })
    assert.strictEqual(one.shown.path, "/questions/r1-e1")
    const two = noticed(after(one.shown, raised("r2-e1")))
    assert.deepInclude(two, { title: "2 questions need you", body: "Why r2-e1?\nWhy r1-e1?" })
    assert.strictEqual(two.shown.path, "/")
  })

  it("names four of many, and each on one short line", () => {
    const { body } = noticed(after(showing("a", "b", "c", "d", "e"), raised("f", `x\n ${"y".repeat(200)}`)))
    assert.strictEqual(body, `x ${"y".repeat(78)}…\nWhy e?\nWhy d?\nWhy c?\nand 2 more`)
  })

  it.each<[string, Shown | undefined, ToNotices, boolean, ReturnType<typeof after> | ReadonlyArray<string>]>([
    ["shows nothing to whoever looks", undefined, raised("a"), true, "unchanged"],
    ["shows a question once", showing("a"), raised("a"), false, "unchanged"],
    ["goes with its last question", showing("a"), closed("a"), false, undefined],
    ["keeps the other questions", showing("a", "b"), closed("a"), false, ["b"]],
    ["does not change for a question that it does not have", showing("a"), closed("b"), false, "unchanged"],
    ["is taken back also while somebody looks", showing("a"), closed("a"), true, undefined],
    ["goes when nothing is open", showing("a", "b"), { type: "open", ids: [], asOfMs: 50_000 }, false, undefined],
    ["keeps what is open", showing("a", "b"), { type: "open", ids: ["b"], asOfMs: 50_000 }, false, ["b"]],
    [
      "keeps what may be newer than the list",
      showing("a"),
      { type: "open", ids: [], asOfMs: 4_000 },
      false,
      "unchanged"
    ]
  ])("%s", (_, shown, message, isLookedAt, expected) => {
    const outcome = after(shown, message, 60_000, isLookedAt)
    assert.deepStrictEqual(Array.isArray(expected) ? idsIn(noticed(outcome)) : outcome, expected)
  })

  const told = (ids: ReadonlyArray<string>, more = 0, again = false): ToNotices => ({
    type: "told",
    questions: ids.map((id) => asked(id)),
    more,
    again
  })

  it("counts what the gate has told without a name, until a page knows all", () => {
    const many = noticed(after(showing("a"), told(["b", "c"], 7)))
    assert.deepInclude(many, {
      title: "10 questions need you",
      body: "Why c?\nWhy b?\nWhy a?\nand 7 more",
      calls: true
    })
    assert.strictEqual(noticed(after(many.shown, closed("unnamed"))).title, "9 questions need you")
    const known = noticed(after(many.shown, { type: "open", ids: ["a"], asOfMs: 100_000 }))
    assert.deepInclude(known, { title: "The author needs you", body: "Why a?" })
  })

  it.each<[string, Shown | undefined, ToNotices, boolean, "unchanged" | boolean]>([
    ["of the gate and of a page are one", showing("a"), told(["a"]), false, "unchanged"],
    ["of the gate show nothing to whoever looks", undefined, told(["a"]), true, "unchanged"],
    ["that remind call again", showing("a"), told(["a"], 0, true), false, true],
    ["that remind call also when the notice was put away", undefined, told(["a"], 0, true), false, true],
    ["that remind do not call whoever looks", showing("a"), told(["a"], 0, true), true, "unchanged"]
  ])("messages %s", (_, shown, message, isLookedAt, expected) => {
    const outcome = after(shown, message, 60_000, isLookedAt)
    assert.deepStrictEqual(outcome === "unchanged" ? outcome : noticed(outcome).calls, expected)
  })

  it.each<[Pushed["kind"], ReadonlyArray<string>, ReadonlyArray<ToNotices>]>([
    ["raised", ["a"], [told(["a"])]],
    ["reminder", ["a"], [told(["a"], 0, true)]],
    ["closed", ["a", "b"], [closed("a"), closed("b")]],
    ["test", [], []]
  ])("changes by a message of the kind %s about %j", (kind, ids, changes) => {
    assert.deepStrictEqual(changesBy({ kind, questions: ids.map((id) => asked(id)), more: 0 }), changes)
  })

  it("says at last what became of a question, and begins again with the next", () => {
    const over = { id: "a", title: "No longer needed", text: "bob answered 'fix' through cli." }
    const last = lastWords({ kind: "closed", questions: [over], more: 0 }, 5)
    assert.deepInclude(last, { title: over.title, body: over.text, calls: false })
    assert.deepStrictEqual(last.shown, { questions: [], calledAtMs: 5, path: "/questions/a" })
    assert.strictEqual(noticed(after(last.shown, raised("b"))).body, "Why b?")
    assert.strictEqual(lastWords({ kind: "closed", questions: [over, over], more: 0 }, 5).shown.path, "/")
    assert.match(lastWords({ kind: "test", questions: [], more: 0 }, 5).title, /reaches this browser/)
  })

  it.each<[string, number, ToNotices, boolean]>([
    ["calls again after a while", 10_001, raised("b"), true],
    ["makes no sound for what follows at once", 9_000, raised("b"), false],
    ["makes no sound when a question goes", 60_000, closed("a"), false]
  ])("%s", (_, nowMs, message, calls) => {
    const notice = noticed(after(showing("a", "c"), message, nowMs))
    assert.deepStrictEqual([notice.calls, notice.shown.calledAtMs], [calls, calls ? nowMs : 0])
  })
})

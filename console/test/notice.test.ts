import { assert, describe, it } from "@effect/vitest"
import { type Notice, noticeAfter, type Shown, type ToNotices } from "../src/notices/Notice.ts"

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

  it.each<[string, number, ToNotices, boolean]>([
    ["calls again after a while", 10_001, raised("b"), true],
    ["makes no sound for what follows at once", 9_000, raised("b"), false],
    ["makes no sound when a question goes", 60_000, closed("a"), false]
  ])("%s", (_, nowMs, message, calls) => {
    const notice = noticed(after(showing("a", "c"), message, nowMs))
    assert.deepStrictEqual([notice.calls, notice.shown.calledAtMs], [calls, calls ? nowMs : 0])
  })
})

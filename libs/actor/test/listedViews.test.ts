/** Views as a list answers them. */
import { assert, describe, it } from "@effect/vitest"
import { Host } from "@reprise/protocol"
import { lastOf, listedView, makeListedViews, matches, newest, withHostedText } from "../src/runtime/listedViews.ts"

const listing = { fields: ["state", "runId"] }
const entryOf = (sequence: number, view: unknown) => ({ key: "gate.a", value: JSON.stringify({ sequence, view }) })

describe("a view in a list", () => {
  it("is read once, as long as its entry is the same", () => {
    let read = 0
    const brief = () => {
      read += 1
      return {}
    }
    const listedOf = makeListedViews({ ...listing, brief })
    const entry = entryOf(1, { state: "open" })
    const first = listedOf(entry)
    assert.strictEqual(listedOf(entry), first)
    assert.strictEqual(read, 1)
    assert.notStrictEqual(listedOf({ ...entry }), first)
    assert.strictEqual(read, 2)
  })

  it("keeps its text, its brief text, its line, its host, and only the fields that a filter names", () => {
    const brief = () => ({ state: "open" })
    const line = () => ({ line: 1 })
    const work = { by: [], hostOf: () => Host.make("h1") }
    const view = { state: "open", evidence: "long" }
    assert.deepStrictEqual(listedView({ ...listing, brief, line, workOnHost: work }, { sequence: 3, view }), {
      sequence: 3,
      filtered: { state: "open" },
      host: Host.make("h1"),
      text: '{"state":"open","evidence":"long"}',
      briefText: '{"state":"open"}',
      lineText: '{"line":1}'
    })
  })

  it.each([["text"], [null], [undefined], [7]])("is none when what is stored is %s", (view) => {
    assert.isUndefined(listedView(listing, { sequence: 1, view }))
    assert.isUndefined(makeListedViews(listing)(entryOf(1, view)))
  })

  it("is none when what is stored cannot be read", () => {
    assert.isUndefined(makeListedViews(listing)({ key: "gate.a", value: "" }))
  })

  it("is among so many that changed last, in the order of the list", () => {
    const views = [5, 1, 9, 7].flatMap((sequence) => listedView(listing, { sequence, view: {} }) ?? [])
    const kept = (most: number) => lastOf(views, most).map(({ sequence }) => sequence)
    assert.deepStrictEqual(
      [kept(2), kept(3), kept(4), kept(5)],
      [
        [9, 7],
        [5, 9, 7],
        [5, 1, 9, 7],
        [5, 1, 9, 7]
      ]
    )
  })

  it("matches a filter when it has each value of it", () => {
    const one = listedView(listing, { sequence: 1, view: { state: "open", runId: "r1", phase: "1" } })
    if (one === undefined) return assert.fail("no view")
    assert.isTrue(matches(one, {}))
    assert.isTrue(matches(one, { state: "open", runId: "r1" }))
    assert.isFalse(matches(one, { state: "open", runId: "r2" }))
    assert.isFalse(matches(one, { status: "open" }))
  })

  it("is the newest of two", () => {
    const [older, newer] = [1, 2].map((sequence) => listedView(listing, { sequence, view: {} }))
    assert.strictEqual(newest(newer, older), newer)
    assert.strictEqual(newest(older, newer), newer)
    assert.strictEqual(newest(older, undefined), older)
    assert.strictEqual(newest(undefined, older), older)
  })

  it.each([
    ['{"n":1}', true, '{"n":1,"hosted":true}'],
    ['{"n":1}', false, '{"n":1,"hosted":false}'],
    ["{}", true, '{"hosted":true}'],
    ['{"n":1}', undefined, '{"n":1}']
  ])("says whether it is hosted: %s, %s", (text, hosted, expected) => {
    assert.strictEqual(withHostedText(text, hosted), expected)
  })
})

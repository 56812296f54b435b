import { assert, describe, it } from "@effect/vitest"
import { Key, subjects } from "@reprise/protocol"
import { Schema } from "effect"
import { changeText, firstChange } from "../src/replay/firstChange.ts"
import { replayJournal, type StoredEntry } from "../src/replay/replayJournal.ts"
import { decideInput } from "../src/runtime/decideInput.ts"
import { type CounterCommand, CounterEvent, counter } from "./support/Counter.ts"

const key = Key.make("c1")
const now = "2026-01-01T00:00:00.000Z"
const sender = { service: "gate", key, source: "/gate/local", subjects: subjects("reprise") } as const

/** The journal that the counter writes when it handles these commands. */
const journalOf = (...commands: ReadonlyArray<CounterCommand>): ReadonlyArray<StoredEntry> => {
  let state = counter.initial
  return commands.map((input, index) => {
    const meta = { id: `m${index}`, type: input._tag, source: "/test", subject: "c1", time: now }
    const decided = decideInput(counter, Schema.encodeSync(CounterEvent), sender, {
      state,
      input,
      meta,
      delivery: { id: meta.id, key, now },
      traceparent: ""
    })
    if (decided._tag === "Failure" || decided.success._tag !== "Decided") throw new Error("nothing was decided")
    state = decided.success.state
    return { sequence: index + 1, body: JSON.stringify(decided.success.entry) }
  })
}

const add = (n: number): CounterCommand => ({ _tag: "Add", n })
const journal = journalOf(add(1), { _tag: "AddAndTell", n: 2, other: "c2" }, { _tag: "AddLater", n: 3, dueAt: now })
const view = { sequence: 3, view: { total: 3, steps: 3, status: "little" } }

describe("a journal that is replayed", () => {
  it("has no difference with the code that wrote it", () => {
    assert.deepStrictEqual(replayJournal(counter, sender, journal, view), { entries: 3 })
    assert.deepStrictEqual(replayJournal(counter, sender, []), { entries: 0 })
  })

  it("names the first entry that sends something else, with the message and the field", () => {
    const react: typeof counter.react = (state, events, delivery) =>
      counter.react({ ...state, total: state.total > 1 ? 99 : state.total }, events, delivery)
    assert.deepStrictEqual(replayJournal({ ...counter, react }, sender, journal, view), {
      entries: 3,
      difference: {
        kind: "sent",
        sequence: 2,
        at: now,
        input: "AddAndTell",
        detail: "StepStarted to reprise.event.gate.c1.StepStarted: payload.attempt was 3 and would be 99"
      }
    })
  })

  it("names an entry that would send fewer or more messages", () => {
    const silent = replayJournal({ ...counter, react: () => [] }, sender, journal)
    assert.strictEqual(silent.difference?.sequence, 1)
    assert.match(silent.difference?.detail ?? "", /^StepStarted to \S+: it was \{.*\} and would be nothing$/)
    const react: typeof counter.react = (...args) => [...counter.react(...args), ...counter.react(...args)]
    const twice = replayJournal({ ...counter, react }, sender, journal)
    assert.strictEqual(twice.difference?.detail, "the number of messages: length was 1 and would be 2")
  })

  it("names an entry whose stored view is not what the code shows of it", () => {
    const stale = { sequence: 2, view: { total: 2, steps: 2, status: "little" } }
    assert.deepInclude(replayJournal(counter, sender, journal, stale).difference, {
      kind: "shown",
      sequence: 2,
      detail: "total was 2 and would be 3"
    })
    const richer = { ...counter, view: () => ({ ...view.view, added: "later" }) }
    assert.isUndefined(replayJournal(richer, sender, journal, view).difference)
  })

  it("cannot be read from the entry on that is garbage, holds an unknown event, or that the code throws at", () => {
    const unknown = { sequence: 4, body: (journal[2]?.body ?? "").replace('"Planned"', '"Forgotten"') }
    const evolve: typeof counter.evolve = (state, event) => {
      if (event._tag === "Planned") throw new Error("it exploded")
      return counter.evolve(state, event)
    }
    const cases = [
      [replayJournal(counter, sender, [...journal, { sequence: 4, body: "garbage" }]), 4, /cannot be read/],
      [replayJournal(counter, sender, [...journal, unknown]), 4, /This version does not read its event 'Forgotten'/],
      [replayJournal({ ...counter, evolve }, sender, journal), 3, /it exploded/]
    ] as const
    for (const [{ difference }, sequence, detail] of cases) {
      assert.deepStrictEqual([difference?.kind, difference?.sequence], ["unreadable", sequence])
      assert.match(difference?.detail ?? "", detail)
    }
  })

  it("names the entry that cannot be read even when an earlier one would send something else", () => {
    const broken = [...journal, { sequence: 4, body: "" }]
    const { difference } = replayJournal({ ...counter, react: () => [] }, sender, broken)
    assert.deepStrictEqual([difference?.kind, difference?.sequence], ["unreadable", 4])
  })
})

describe("the first change between stored and present JSON", () => {
  it.each([
    [{ a: 1 }, { a: 1, b: 2 }, undefined],
    [{ a: { b: [1, 2] } }, { a: { b: [1, 3] } }, "a.b.1 was 2 and would be 3"],
    [[1], [1, 2], "length was 1 and would be 2"],
    [[1, 2], [1], "1 was 2 and would be nothing"],
    [{ a: null }, { a: null }, undefined],
    [{ a: null }, {}, "a was null and would be nothing"],
    [{ a: [] }, { a: {} }, "a was [] and would be {}"],
    ["x", 1, 'it was "x" and would be 1']
  ])("of %j to %j is %j", (stored, present, expected) => {
    const change = firstChange(stored, present)
    assert.strictEqual(change === undefined ? undefined : changeText(change), expected)
  })

  it("shows texts whole that are as long as an excerpt, wherever they part", () => {
    const same = "x".repeat(157)
    assert.strictEqual(
      changeText({ path: ["prompt"], stored: `${same}a`, now: `${same}b` }),
      `prompt was "${same}a" and would be "${same}b"`
    )
  })

  it("shows long texts from a little before where they part", () => {
    const long = "x".repeat(1_000)
    const text = changeText({ path: ["prompt"], stored: `${long}old${long}`, now: `${long}new${long}` })
    assert.match(text, /^prompt was …x{20}oldx+… and would be …x{20}newx+…$/)
    assert.isBelow(text.length, 420)
  })
})

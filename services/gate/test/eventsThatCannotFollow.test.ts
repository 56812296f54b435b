import { assert, describe, it } from "@effect/vitest"
import { evolve } from "../src/actor/evolve.ts"
import type { JournalEvent } from "../src/actor/journal.ts"
import { react } from "../src/actor/react.ts"
import { type EscalationState, initial } from "../src/actor/state.ts"
import { escalationId, question, raised, timeAt } from "./fixtures.ts"

const answered: JournalEvent = { _tag: "Answered", at: timeAt(5), choice: "fix", by: "ada", via: "cli" }
const withdrawn: JournalEvent = { _tag: "Withdrawn", at: timeAt(5), escalationId, reason: "agent-working" }
const overruled: JournalEvent = { _tag: "Overruled", at: timeAt(6), reason: "agent-working" }
const updated: JournalEvent = { _tag: "Updated", at: timeAt(6), question: question({ reason: "Which one?" }) }
const reminded: JournalEvent = { _tag: "Reminded", at: timeAt(10), count: 1 }
const told: JournalEvent = { _tag: "Told", at: timeAt(1), channel: "phone" }

const after = (...events: ReadonlyArray<JournalEvent>): EscalationState => events.reduce(evolve, initial)

const histories = {
  "was never raised": [],
  "is open": [raised()],
  "was answered": [raised(), answered],
  "was withdrawn": [raised(), withdrawn],
  "was withdrawn before it was raised": [withdrawn]
} satisfies Record<string, ReadonlyArray<JournalEvent>>

const cannotFollow: Record<keyof typeof histories, ReadonlyArray<JournalEvent>> = {
  "was never raised": [updated, reminded, answered, overruled, told],
  "is open": [overruled],
  "was answered": [updated, reminded, answered],
  "was withdrawn": [updated, reminded, answered, overruled],
  "was withdrawn before it was raised": [updated, reminded, answered, overruled]
}

describe("an event that cannot follow", () => {
  const rows = (Object.keys(cannotFollow) as ReadonlyArray<keyof typeof histories>).flatMap((where) =>
    cannotFollow[where].map((event) => [event._tag, where, event] as const)
  )

  it.each(rows)("leaves a question as it is: %s where it %s", (_tag, where, event) => {
    const state = after(...histories[where])
    assert.strictEqual(evolve(state, event), state)
  })

  it.each([
    ["is open", [answered, overruled, withdrawn, told]],
    ["was answered", [reminded, withdrawn]],
    ["was withdrawn", [reminded, answered, overruled]],
    ["was withdrawn before it was raised", [reminded, answered, overruled, withdrawn, told]],
    ["was never raised", [reminded, answered, overruled, withdrawn, told]]
  ] as const)("sends nothing about a question that %s", (where, events) => {
    assert.deepStrictEqual(react(after(...histories[where]), events), [])
  })
})

describe("the state of a question", () => {
  it("holds only what its events said", () => {
    const asked = { question: question(), raisedAt: timeAt(0) }
    assert.deepStrictEqual(after(raised()), { status: "open", ...asked, reminders: 0 })
    assert.deepStrictEqual(after(raised(), answered), { status: "answered", ...asked, answer: answered })
    assert.deepStrictEqual(after(raised(), told, answered).told, ["phone"])
    assert.deepStrictEqual(after(raised(), withdrawn), { status: "withdrawn", ...asked, withdrawal: withdrawn })
    assert.deepStrictEqual(after(withdrawn), { status: "withdrawn", withdrawal: withdrawn })
  })
})

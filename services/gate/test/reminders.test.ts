import { assert, describe, it } from "@effect/vitest"
import { given } from "@reprise/actor/testing"
import { escalationActor, escalationActorWith } from "../src/actor/actor.ts"
import type { JournalEvent } from "../src/actor/journal.ts"
import { defaultReminders, type ReminderSettings, reminderAfterMs } from "../src/actor/reminders.ts"
import { NotifyWork } from "../src/notify/Notice.ts"
import { at, escalationId, question, raised, runId, timeAt } from "./fixtures.ts"

const escalation = given(escalationActor, NotifyWork)

const answered: JournalEvent = { _tag: "Answered", at: timeAt(5), choice: "fix", by: "ada", via: "cli" }

const remind = (count: number) => ({ _tag: "Remind", escalationId, count }) as const

describe("reminding of a question", () => {
  it("publishes a reminder while the question is open, and sets the next one for an hour later", () => {
    const first = escalation([raised()]).when(remind(1), at(10))
    first.then([{ _tag: "Reminded", at: timeAt(10), count: 1 }])
    const { phase, sessionId, step } = question()
    assert.deepStrictEqual(first.published as unknown, [
      { _tag: "EscalationReminded", runId, escalationId, phase, step, sessionId, openSince: timeAt(0), count: 1 }
    ])
    assert.containSubset(first.sent, [{}, { _tag: "SetTimer", dueAt: timeAt(70), command: remind(2) }])
  })

  it("does nothing once the question is closed, or when the same reminder comes twice", () => {
    escalation([raised(), answered]).when(remind(1), at(10)).then([])
    escalation([]).when(remind(1), at(10)).then([])
    escalation([raised(), { _tag: "Reminded", at: timeAt(10), count: 1 }])
      .when(remind(1), at(11))
      .then([])
  })
})

describe("when humans are reminded", () => {
  const hour = 60 * 60_000
  it.each<[string, ReminderSettings, number, number | undefined]>([
    ["first after ten minutes", defaultReminders, 1, hour / 6],
    ["then every hour", defaultReminders, 2, hour],
    ["always every hour", defaultReminders, 30, hour],
    ["first when it is set", { remindAfterMs: 5, remindEveryMs: 7 }, 1, 5],
    ["then as often as it is set", { remindAfterMs: 5, remindEveryMs: 7 }, 2, 7],
    ["once", { remindAfterMs: 5, remindEveryMs: 0 }, 1, 5],
    ["and not twice", { remindAfterMs: 5, remindEveryMs: 0 }, 2, undefined],
    ["never", { remindAfterMs: 0, remindEveryMs: 7 }, 1, undefined],
    ["never again", { remindAfterMs: 0, remindEveryMs: 7 }, 2, undefined]
  ])("%s", (_, settings, count, ms) => assert.strictEqual(reminderAfterMs(settings, count), ms))

  const timersOf = ({ sent }: { readonly sent: ReadonlyArray<{ readonly _tag: string }> }) =>
    sent.filter(({ _tag }) => _tag === "SetTimer")
  const raisedWith = (reminders: ReminderSettings): JournalEvent => ({
    _tag: "Raised",
    at: timeAt(0),
    question: question(),
    reminders
  })

  it("is decided when the question is raised, and kept with it", () => {
    const reminders = { remindAfterMs: 60_000, remindEveryMs: 0 }
    const opened = given(escalationActorWith(() => ({ channels: [], ...reminders })))([]).when(question(), at(0))
    opened.then([raisedWith(reminders)])
    assert.containSubset(timersOf(opened), [{ dueAt: timeAt(1), command: remind(1) }])
    const once = escalation([raisedWith(reminders)]).when(remind(1), at(1))
    once.then([{ _tag: "Reminded", at: timeAt(1), count: 1 }])
    assert.deepStrictEqual(
      once.sent.map(({ _tag }) => _tag),
      ["PublishEvent"]
    )
  })

  it("sets no timer where nobody is to be reminded", () => {
    const never = { remindAfterMs: 0, remindEveryMs: 60_000 }
    const opened = given(escalationActorWith(() => ({ channels: [], ...never })))([]).when(question(), at(0))
    assert.deepStrictEqual(
      opened.sent.map(({ _tag }) => _tag),
      ["PublishEvent"]
    )
  })
})

describe("the count of reminders", () => {
  const reminded: JournalEvent = { _tag: "Reminded", at: timeAt(10), count: 1 }

  it("goes on after the question was updated", () => {
    const updated: JournalEvent = { _tag: "Updated", at: timeAt(20), question: question({ reason: "Which one?" }) }
    escalation([raised(), reminded, updated])
      .when(remind(2), at(70))
      .then([{ _tag: "Reminded", at: timeAt(70), count: 2 }])
  })

  it("is never skipped by a timer that is ahead", () => {
    escalation([raised(), reminded]).when(remind(3), at(70)).then([])
  })
})

/** What an Escalation actor asks its worker for. */
import { assert, describe, it } from "@effect/vitest"
import { given } from "@reprise/actor/testing"
import { anyHost } from "@reprise/protocol"
import { escalationActor, escalationActorWith } from "../src/actor/actor.ts"
import type { JournalEvent } from "../src/actor/journal.ts"
import { defaultReminders } from "../src/actor/reminders.ts"
import { NotifyWork, noticeQuestion } from "../src/notify/Notice.ts"
import { at, escalationId, question, raised, reply, timeAt } from "./fixtures.ts"

const channels = ["team", "phone"]
const escalation = given(
  escalationActorWith(() => ({ channels, ...defaultReminders })),
  NotifyWork
)
const raisedTo: JournalEvent = { _tag: "Raised", at: timeAt(0), question: question(), channels }
const told = (channel: string): JournalEvent => ({ _tag: "Told", at: timeAt(1), channel })
const reportOf = (channel: string) => ({ _tag: "ChannelTold", escalationId, channel }) as const
const withdrawal = { _tag: "WithdrawEscalation", escalationId, reason: "superseded" } as const

const asked = noticeQuestion(question(), timeAt(0))

/** The work that is asked for. */
const workOf = ({ sent }: { readonly sent: ReadonlyArray<{ readonly _tag: string }> }) =>
  sent.flatMap((one) => {
    if (one._tag !== "RequestWork") return []
    const { host, work } = one as unknown as { readonly host: string; readonly work: NotifyWork }
    assert.strictEqual(host, anyHost)
    return [[work.channel, work.notice]]
  })

describe("a question", () => {
  it("is told to each channel once, and not again when it changes", () => {
    const opened = escalation([]).when(question(), at(0))
    opened.then([raisedTo])
    assert.deepStrictEqual(workOf(opened), [
      ["team", { _tag: "Raised", question: asked }],
      ["phone", { _tag: "Raised", question: asked }]
    ])
    assert.deepStrictEqual(workOf(escalation([raisedTo]).when(question(), at(1))), [])
    assert.deepStrictEqual(workOf(escalation([raisedTo]).when(question({ reason: "Other" }), at(1))), [])
  })

  it("shows which channels have not been told of it, as long as it is open", () => {
    const actor = escalationActorWith(() => ({ channels, ...defaultReminders }))
    const shown = (history: ReadonlyArray<JournalEvent>) => actor.view?.(escalation(history).state)
    assert.containSubset(shown([raisedTo]), { notNotified: channels })
    assert.containSubset(shown([raisedTo, told("team")]), { notNotified: ["phone"] })
    assert.notProperty(shown([raisedTo, told("team"), told("phone")]), "notNotified")
    const closed: JournalEvent = { _tag: "Withdrawn", at: timeAt(2), escalationId, reason: "run-ended" }
    assert.notProperty(shown([raisedTo, closed]), "notNotified")
  })

  it("is told to nobody where no channel is configured, and its journal says nothing of it", () => {
    const opened = given(escalationActor)([]).when(question(), at(0))
    opened.then([raised()])
    assert.deepStrictEqual(workOf(opened), [])
  })

  it("is reminded of where it is known, whatever is configured by then", () => {
    const remind = { _tag: "Remind", escalationId, count: 1 } as const
    const reminded = given(escalationActor)([raisedTo, told("team")]).when(remind, at(10))
    assert.deepStrictEqual(workOf(reminded), [["team", { _tag: "Reminder", question: asked, count: 1 }]])
    assert.deepStrictEqual(workOf(escalation([raisedTo]).when(remind, at(10))), [])
  })

  it("that is answered or withdrawn is no longer needed where it is known", () => {
    const history = [raisedTo, told("phone")]
    assert.deepStrictEqual(workOf(escalation(history).when(reply("fix", { guidance: "hush" }), at(2))), [
      ["phone", { _tag: "Answered", question: asked, choice: "fix", by: "ada", via: "cli" }]
    ])
    assert.deepStrictEqual(workOf(escalation(history).when(withdrawal, at(2))), [
      ["phone", { _tag: "Withdrawn", question: asked, reason: "superseded" }]
    ])
    assert.deepStrictEqual(workOf(escalation([raisedTo]).when(withdrawal, at(2))), [])
  })

  it("that becomes known to a channel after it was closed is closed there, too", () => {
    const closed: JournalEvent = { _tag: "Answered", at: timeAt(2), choice: "fix", by: "ada", via: "cli" }
    const late = escalation([raisedTo, closed]).when(reportOf("team"), at(3))
    late.then([{ _tag: "Told", at: timeAt(3), channel: "team" }])
    assert.deepStrictEqual(workOf(late), [
      ["team", { _tag: "Answered", question: asked, choice: "fix", by: "ada", via: "cli" }]
    ])
  })

  it("is noted as known to a channel once", () => {
    escalation([raisedTo])
      .when(reportOf("team"), at(1))
      .then([told("team")])
    escalation([raisedTo, told("team")])
      .when(reportOf("team"), at(2))
      .then([])
    escalation([]).when(reportOf("team"), at(1)).then([])
    const early: JournalEvent = { _tag: "Withdrawn", at: timeAt(0), escalationId, reason: "run-ended" }
    escalation([early]).when(reportOf("team"), at(1)).then([])
  })
})

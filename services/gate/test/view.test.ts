import { assert, describe, it } from "@effect/vitest"
import { given } from "@reprise/actor/testing"
import { escalationActor } from "../src/actor/actor.ts"
import type { JournalEvent } from "../src/actor/journal.ts"
import { escalationId, question, raised, runId, timeAt } from "./fixtures.ts"

const escalation = given(escalationActor)

const answered = (choice: string, guidance?: string): JournalEvent => ({
  _tag: "Answered",
  at: timeAt(5),
  choice,
  by: "ada",
  via: "cli",
  ...(guidance === undefined ? {} : { guidance })
})
const withdrawn: JournalEvent = { _tag: "Withdrawn", at: timeAt(5), escalationId, reason: "agent-working" }

describe("the run of a question", () => {
  it("is known once the question was raised", () => {
    assert.strictEqual(escalationActor.runOf(escalation([raised()]).state), runId)
    assert.isUndefined(escalationActor.runOf(escalation([withdrawn]).state))
  })
})

describe("the view of a question in a list", () => {
  const brief = (asked: ReturnType<typeof question>) =>
    escalationActor.brief?.(escalationActor.view?.(escalation([raised(asked)]).state))
  const places = { attempt: 2, phaseTitle: "Login", planPath: "PLAN.md", planTitle: "A shop" }

  it.each([
    ["nothing", {}, {}],
    ["where it stands", places, places],
    ["no other evidence", { ...places, commit: "aaaa", diffStat: "1 file" }, places]
  ] as const)("has of its evidence %s", (_, evidence, shown) => {
    assert.deepStrictEqual((brief(question({ evidence })) as { evidence: object }).evidence, shown)
  })

  it.each([
    ["of 400 characters is whole", "x".repeat(400), "x".repeat(400)],
    ["of more is cut there", "x".repeat(401), `${"x".repeat(400)}…`]
  ])("has a reason that %s", (_, reason, shown) => {
    assert.containSubset(brief(question({ reason })), { reason: shown })
  })
})

describe("the view of a question", () => {
  it("is absent for one that was withdrawn before it was raised", () => {
    assert.isUndefined(escalationActor.view?.(escalation([withdrawn]).state))
  })

  it("shows no guidance where none was given with the answer", () => {
    const shown = escalationActor.view?.(escalation([raised(), answered("fix")]).state)
    assert.notProperty(shown, "guidance")
  })

  it("shows the items that the question is about", () => {
    const items = [{ id: "R1", title: "x", action: "human_required", reason: "", priority: "P0" }] as const
    assert.containSubset(escalationActor.view?.(escalation([raised(question({ items }))]).state), { items })
  })

  it("shows the open question, then how it was closed", () => {
    assert.strictEqual(escalationActor.view?.(escalation([]).state), undefined)
    const { _tag, ...asked } = question()
    assert.deepStrictEqual(escalationActor.view?.(escalation([raised()]).state) as unknown, {
      ...asked,
      raisedAt: timeAt(0),
      state: "open"
    })
    assert.deepStrictEqual(escalationActor.view?.(escalation([raised(), answered("fix", "why")]).state) as unknown, {
      ...asked,
      state: "answered",
      choice: "fix",
      guidance: "why",
      by: "ada",
      via: "cli",
      raisedAt: timeAt(0),
      closedAt: timeAt(5)
    })
    assert.containSubset(escalationActor.view?.(escalation([raised(), withdrawn]).state), {
      state: "withdrawn",
      withdrawnFor: "agent-working",
      raisedAt: timeAt(0),
      closedAt: timeAt(5)
    })
  })
})

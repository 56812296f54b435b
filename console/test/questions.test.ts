import { assert, describe, it } from "@effect/vitest"
import type { EscalationView } from "@reprise/protocol"
import { byRun, nextAfter, openQuestions, ordered } from "../src/data/questions.ts"
import { sessionsOf } from "../src/pages/sessionsOf.ts"

const question = (n: number, state: "open" | "answered" | "withdrawn" = "open", runId = "r1") => ({
  escalationId: `e${n}` as never,
  raisedAt: `2026-01-02T10:00:0${n}.000Z`,
  state,
  runId
})
const idsOf = (questions: ReadonlyArray<{ readonly escalationId: string }>) =>
  questions.map(({ escalationId }) => escalationId)

describe("the open questions", () => {
  type Question = ReturnType<typeof question>
  it.each<[string, ReadonlyArray<Question>, ReadonlyArray<Question>, Array<string>]>([
    ["newest first", [question(1), question(2)], [], ["e2", "e1"]],
    ["with one that the list does not have yet", [question(1)], [question(2)], ["e2", "e1"]],
    [
      "without one that the list does not know to be answered",
      [question(1), question(2)],
      [question(1, "answered")],
      ["e2"]
    ],
    ["without one that was withdrawn before the list had it", [], [question(1, "withdrawn")], []],
    ["none twice", [question(1)], [question(1)], ["e1"]]
  ])("are listed %s", (_how, listed, lookedUp, expected) =>
    assert.deepStrictEqual(
      idsOf(openQuestions(listed, new Map(lookedUp.map((one) => [one.escalationId, one])))),
      expected
    )
  )

  it("can be ordered by age or by run", () => {
    const all = [question(1, "open", "b"), question(2, "open", "a"), question(3, "open", "b")]
    assert.deepStrictEqual(idsOf(ordered(all, "newest")), ["e3", "e2", "e1"])
    assert.deepStrictEqual(idsOf(ordered(all, "oldest")), ["e1", "e2", "e3"])
    assert.deepStrictEqual(idsOf(ordered(all, "run")), ["e2", "e1", "e3"])
  })

  it.each([
    ["the one below", "e2", "e3"],
    ["the last one, after the last", "e3", "e2"],
    ["the first one, after one that is not among them", "gone", "e1"]
  ])("go on with %s", (_which, id, next) =>
    assert.strictEqual(nextAfter([question(1), question(2), question(3)], id)?.escalationId, next)
  )

  it("go on with none when the last one is answered", () =>
    assert.strictEqual(nextAfter([question(1)], "e1"), undefined))
})

it("puts the questions of each run together, in the order in which the runs come", () => {
  const questions = ["a1", "b1", "a2"].map((id) => ({ id, runId: id.slice(0, 1) }))
  assert.deepStrictEqual(
    byRun(questions).map((group) => group.map(({ id }) => id)),
    [["a1", "a2"], ["b1"]]
  )
})

const asked = (sessionId?: string, author?: string) =>
  ({ evidence: { ...(sessionId && { sessionId }), ...(author && { authorSessionId: author }) } }) as EscalationView

it.each([
  [asked(), []],
  [asked("s1"), ["Session s1"]],
  [asked("s1", "s1"), ["Session s1"]],
  [asked("s2", "s1"), ["Reviewer’s session s2", "Author’s session s1"]],
  [asked(undefined, "s1"), ["Author’s session s1"]]
])("names the sessions of %j", (question, names) =>
  assert.deepStrictEqual(
    sessionsOf(question).map(({ id, title }) => `${title} ${id}`),
    names
  )
)

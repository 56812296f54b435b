/** What sessions use is counted from the runtime's totals, whoever prompted them. */
import { assert, describe, it } from "@effect/vitest"
import { noTokens, type Usage } from "@reprise/protocol"
import { viewOf } from "../src/machine/view.ts"
import type { SessionInput } from "../src/session/inputs.ts"
import { answer, failed, firstTurn, found, given, goodReport, nextTurn, opened, sessionId, t } from "./support/story.ts"

/** The first turn uses 10 input and 2 output tokens, half a dollar and a call with each of its prompts. */
const first = given(firstTurn).state.used
const total = (input: number, cost = 0, calls = 0): Usage => ({
  tokens: { ...first.tokens, input: first.tokens.input + input },
  cost: first.cost + cost,
  calls: first.calls + calls
})
const own = (input: number): Usage => ({ tokens: { ...noTokens, input }, cost: 0, calls: 0 })
const abort: SessionInput = { _tag: "AbortSession", sessionId, reason: "stop" }
const working = (cause: "human" | "agent" = "human"): SessionInput => ({
  _tag: "ReportActivity",
  cause,
  evidence: "text"
})
const archived = (all: Usage, model?: string): SessionInput => ({
  _tag: "RecordArchived",
  object: `session/${sessionId}/ses_1`,
  messages: 4,
  total: all,
  ...(model === undefined ? {} : { model })
})
const second = [...firstTurn, nextTurn(2)]

describe("what a session uses", () => {
  it("counts what a human used in it between two turns, and not for the next turn", () => {
    const human = given([...firstTurn, working()]).when({ _tag: "ReportIdle", total: total(700, 0.25, 3) })
    assert.deepStrictEqual(human.types, ["ActivityNoted", "UsageCounted", "AgentIdle"])
    assert.deepInclude(human.event("UsageCounted"), { tokens: own(700).tokens, cost: 0.25, calls: 3 })
    assert.deepStrictEqual(viewOf(human.state)?.tokens, total(700).tokens)
    const unseen = given(second).when({ ...found(2), total: total(700, 0.25, 3) })
    assert.deepInclude(unseen.event("UsageCounted"), { tokens: own(700).tokens, calls: 3 })
    assert.strictEqual(unseen.state.turn?.used.calls, 0)
  })

  it("counts for a turn what the runtime's total has grown by, where that is more than its prompt tells", () => {
    const told = { tokens: own(100).tokens, cost: 0.1, calls: 1 }
    const more = given([...second, found(2)]).when(answer(2, 1, goodReport, { ...told, total: total(300, 0.4, 2) }))
    assert.deepInclude(more.event("TurnCompleted"), { tokens: own(300).tokens, calls: 2 })
    const late = given([...second, found(2)]).when(answer(2, 1, goodReport, { ...told, total: total(0) }))
    assert.deepInclude(late.event("TurnCompleted"), told)
  })

  it("counts what a turn used that failed or ran out of time", () => {
    for (const kind of ["timeout", "unauthorized"] as const) {
      const ended = given([...second, found(2)]).when(failed(2, 1, kind, { ...own(0), total: total(500, 0.125, 1) }))
      assert.deepInclude(ended.event("TurnFailed"), { tokens: own(500).tokens, cost: 0.125, calls: 1 })
    }
  })

  it("counts what an aborted turn had used once nothing runs any more, and only once", () => {
    const aborted = [...second, found(2), abort]
    const saved = given(aborted).when(archived(total(500)))
    assert.deepInclude(saved.event("UsageCounted"), { tokens: own(500).tokens })
    assert.notInclude(given([...aborted, archived(total(500))]).when(archived(total(500))).types, "UsageCounted")
  })

  it("counts nothing while a turn is open, whose end will", () => {
    assert.notInclude(given([...second, found(2)]).when(archived(total(500))).types, "UsageCounted")
  })

  it("begins at nothing in the runtime session that replaces another", () => {
    const replaced = [...firstTurn, nextTurn(2, { onMissing: "fresh" }), found(2, "missing"), opened(2, "ses_2")]
    const ended = given(replaced).when(answer(2, 1, goodReport, { ...own(40), total: own(50) }))
    assert.deepStrictEqual(ended.event("TurnCompleted").tokens, own(50).tokens)
    assert.strictEqual(viewOf(ended.state)?.tokens.input, first.tokens.input + 50)
  })

  it("begins at nothing where the runtime began a new conversation under the same id", () => {
    const told = { ...own(40), messages: 2 }
    const replaced = [...second, found(2), answer(2, 1, goodReport, { ...told, total: own(45) })]
    assert.strictEqual(given(replaced).state.used.tokens.input, first.tokens.input + 45)
    const human = given([...replaced, working()]).when({ _tag: "ReportIdle", total: own(50) })
    assert.deepInclude(human.event("UsageCounted"), { tokens: own(5).tokens })
  })

  it("publishes nothing where only the rounding of the cost is left", () => {
    const costs = (cost: number): Usage => ({ ...own(0), cost })
    const replaced = [...firstTurn, nextTurn(2, { onMissing: "fresh" }), found(2, "missing"), opened(2, "ses_2")]
    const ended = [...replaced, answer(2, 1, goodReport, { ...costs(0.4), total: costs(0.4) }), working()]
    const idle = (total: number) => given(ended).when({ _tag: "ReportIdle", total: costs(total) })
    // The session has cost 1.4 dollars, and 1.4 - 1 is less than 0.4.
    assert.notInclude(idle(0.4).types, "UsageCounted")
    assert.notInclude(idle(0.4 + 1e-9).types, "UsageCounted")
    assert.strictEqual(idle(0.4 + 1e-5).event("UsageCounted").tokens.input, 0)
  })
})

describe("a session's model and its last stop", () => {
  it("are told in the runtime's words", () => {
    const ended = given([...second, found(2)]).when(
      answer(2, 1, goodReport, { model: "vendor/large-2", finish: "end_turn" })
    )
    assert.deepInclude(viewOf(ended.state), { model: "vendor/large-2", lastStopReason: "end_turn" })
  })

  it("are counted for the model also when its turn failed, was interrupted or was aborted", () => {
    const model = "vendor/large-2"
    const interrupting: SessionInput = { _tag: "InterruptTurn", sessionId, turnId: t(2), reason: "pause" }
    const ends: ReadonlyArray<ReadonlyArray<SessionInput>> = [
      [failed(2, 1, "timeout", { model })],
      [interrupting, { _tag: "RecordInterrupted", turnId: t(2), model }],
      [abort, archived(first, model)]
    ]
    for (const end of ends) assert.strictEqual(viewOf(given([...second, found(2), ...end]).state)?.model, model)
  })
})

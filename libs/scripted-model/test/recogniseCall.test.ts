import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { decodeScript } from "../src/index.ts"
import type { ModelMessage, ModelRequest } from "../src/player/ModelRequest.ts"
import { recogniseCall } from "../src/player/recogniseCall.ts"
import { calls, request, result, says, user } from "./support/modelRequest.ts"

const recognised = (messages: ReadonlyArray<ModelMessage>, overrides: Partial<ModelRequest> = {}) =>
  Effect.map(decodeScript({ rules: [] }), (script) => recogniseCall(script, request(messages, overrides)))

const author = user("You are the author of phase 2 of the plan p.md.")
const reviewer = user("You are the reviewer of phase 2.1 of the plan p.md.")
const report = user("Report as JSON: readiness, items.")
const followUp = user("A new commit (abc) has been made in response to your review feedback.")
const goOn = user("Continue the current session and complete all remaining tasks.\n\nThe word JSON and readiness.")

describe("recogniseCall", () => {
  it.effect("reads role and phase from the first prompt of a session", () =>
    Effect.gen(function* () {
      assert.deepInclude(yield* recognised([author]), { role: "author", phase: "2", kind: "work", cycle: 1, turn: 1 })
      assert.deepInclude(yield* recognised([reviewer]), { role: "reviewer", phase: "2.1" })
      assert.deepInclude(yield* recognised([user("hello")]), { role: "", phase: "", kind: "work" })
    })
  )

  it.effect("takes the phase from the newest prompt that names one", () =>
    Effect.gen(function* () {
      const later = user("You are the author of phase 3 of the plan p.md.")
      assert.deepInclude(yield* recognised([author, says("ok"), later, says("ok"), report]), { phase: "3" })
    })
  )

  it.effect.each([
    ["report", [author, says("ok"), report]],
    ["continue", [author, says("ok"), goOn]],
    ["follow-up", [reviewer, says("ok"), followUp]],
    ["work", [author, calls("bash"), result("JSON completedTasks")]]
  ] as const)("recognises the call kind %s", ([kind, messages]) =>
    Effect.gen(function* () {
      assert.strictEqual((yield* recognised(messages)).kind, kind)
    })
  )

  it.effect("recognises a runtime's own calls for titles and summaries by system prompt and missing tools", () =>
    Effect.gen(function* () {
      const title = { system: "You are a title generator.", tools: [] }
      const summary = { system: "You summarize conversations.", tools: [] }
      assert.strictEqual((yield* recognised([author], title)).kind, "title")
      assert.strictEqual((yield* recognised([author], summary)).kind, "summary")
      assert.strictEqual((yield* recognised([author], { system: "Give a title." })).kind, "work")
    })
  )

  it.effect("takes a prompt for work that is to end with its report for work", () =>
    Effect.gen(function* () {
      const work = user("You are the author of phase 2. Do it.\n\nEnd your last message with JSON: completedTasks")
      assert.deepInclude(yield* recognised([work]), { kind: "work", reportsAtEnd: true })
      assert.deepInclude(yield* recognised([author, says("ok"), report]), { kind: "report", reportsAtEnd: false })
    })
  )

  it.effect("takes the review cycle from the prompt, or counts the follow-ups", () =>
    Effect.gen(function* () {
      const reviewed = [reviewer, says("ok"), report, says("ok"), followUp, says("ok"), report]
      assert.strictEqual((yield* recognised(reviewed)).cycle, 2)
      assert.strictEqual((yield* recognised([user("You are the author of phase 2, cycle 4.")])).cycle, 4)
    })
  )

  it.effect("counts the rounds of tool calls since the newest user message", () =>
    Effect.gen(function* () {
      const turn = [author, calls("bash"), result("a"), says("ok"), report, calls("bash"), result("b")]
      assert.deepInclude(yield* recognised(turn), { turn: 2, round: 1 })
      // A stream that broke off leaves a text without tool calls, which is not a round.
      assert.deepInclude(yield* recognised([author, says("half an ans")]), { turn: 1, round: 0 })
    })
  )
})

import { assert, describe, it } from "@effect/vitest"
import { whatFollows } from "../src/flows/gate/giveAnswer.ts"
import { aQuestion } from "./support/views.ts"

describe("what is said after an answer", () => {
  it.each([
    ["a choice that goes on", { origin: "author" }, "fix", /^The run goes on where/],
    ["an abort", { origin: "author" }, "abort", /^The run ends\.$/],
    ["a pause at the phase gate", { origin: "phase-gate" }, "pause", /^'reprise resume r1-abc' lets it go on\.$/],
    ["an agent's own option called abort", { origin: "question" }, "abort", /^The run goes on where/],
    ["an agent's own option called pause", { origin: "question" }, "pause", /^The run goes on where/]
  ])("fits %s", (_what, given, choice, says) => {
    assert.match(whatFollows(aQuestion(given), choice), says)
  })
})

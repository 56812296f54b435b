import { assert, describe, it } from "@effect/vitest"
import { nextStep } from "../src/flows/gate/giveAnswer.ts"
import { aQuestion } from "./support/views.ts"

describe("the next step after an answer", () => {
  it.each([
    ["a choice that continues the run", { origin: "author" }, "fix", /^The run continues now if/],
    ["an abort", { origin: "author" }, "abort", /^The run ends\.$/],
    ["a pause at the phase gate", { origin: "phase-gate" }, "pause", /^'reprise resume r1-abc' continues it\.$/],
    ["an agent's own option called abort", { origin: "question" }, "abort", /^The run continues now if/],
    ["an agent's own option called pause", { origin: "question" }, "pause", /^The run continues now if/]
  ])("fits %s", (_what, given, choice, says) => {
    assert.match(nextStep(aQuestion(given), choice), says)
  })
})

import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { guidanceText, nextStep } from "../src/flows/gate/giveAnswer.ts"
import { aQuestion } from "./support/views.ts"

describe("guidance on standard input", () => {
  it.effect("is taken verbatim", () =>
    Effect.gen(function* () {
      const text = "Use 🦉 and \ufffd,\n  as it is \n"
      assert.strictEqual(yield* guidanceText(Buffer.from(text)), text)
    })
  )

  it.effect.each([
    { what: "a lone surrogate", bytes: [0x61, 0xed, 0xa0, 0x80] },
    { what: "Latin-1", bytes: [0x66, 0xfc, 0x72] }
  ])("that is $what is refused with the next step", ({ bytes }) =>
    Effect.gen(function* () {
      const refused = yield* Effect.flip(guidanceText(Uint8Array.from(bytes)))
      assert.deepStrictEqual([refused.exitCode, refused.code], [2, "not-text"])
      assert.match(refused.hint, /UTF-8/)
    })
  )
})

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

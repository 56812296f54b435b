import { assert, describe, it } from "@effect/vitest"
import { transcript } from "../src/flows/gate/evidenceText.ts"
import { aQuestion } from "./support/views.ts"

const hint = "'reprise sessions show r1-abc-s1' shows the whole conversation."

describe("what the agent said, at the gate", () => {
  it.each([
    [
      "its words and where the rest is",
      { sessionId: "r1-abc-s1", evidence: { lastLines: "I ask." } },
      `I ask.\n\n${hint}`
    ],
    [
      "no claim that it wrote nothing when its words did not come with the question",
      { sessionId: "r1-abc-s1", evidence: {} },
      `No words of the agent came with this question.\n\n${hint}`
    ],
    ["no hint without a session", { evidence: {} }, "No words of the agent came with this question."]
  ])("is %s", (_, given, shown) => {
    assert.strictEqual(transcript(aQuestion(given)), shown)
  })
})

import { assert, describe, it } from "@effect/vitest"
import { inTodaysWords } from "../src/actor/earlierEvents.ts"

describe("a stored event of an earlier version", () => {
  const at = "2026-01-01T00:00:00.000Z"
  it.each<readonly [string, object, object]>([
    ["a prompt", { _tag: "PromptPlanned", number: 1 }, { _tag: "PromptPrepared", number: 1 }],
    ["a decided question", { _tag: "PromptDecided", promptId: "p1" }, { _tag: "AgentQuestionDecided", promptId: "p1" }],
    ["a reply", { _tag: "PromptReplied", reply: "once" }, { _tag: "AgentQuestionAnswered", reply: "once" }],
    [
      "a repeated question",
      { _tag: "PromptAskedAgain", promptId: "p1", askedAs: "p2" },
      { _tag: "AgentQuestionRepeated", promptId: "p1", runtimePromptId: "p2" }
    ],
    ["a closed question", { _tag: "PromptClosed", promptId: "p1" }, { _tag: "AgentQuestionClosed", promptId: "p1" }],
    [
      "a question to the gate",
      { _tag: "QuestionAsked", ask: { escalationId: "e1", reason: "x" } },
      { _tag: "QuestionRaised", escalationId: "e1" }
    ],
    [
      "a question with nothing in it",
      { _tag: "QuestionAsked", ask: {} },
      { _tag: "QuestionRaised", escalationId: undefined }
    ],
    [
      "a question that is a text",
      { _tag: "QuestionAsked", ask: "x" },
      { _tag: "QuestionRaised", escalationId: undefined }
    ],
    ["a counted action", { _tag: "ActionCounted", place: 2, at }, { _tag: "ActionCounted", index: 2, at }],
    ["a counted action of today", { _tag: "ActionCounted", index: 2, at }, { _tag: "ActionCounted", index: 2, at }],
    [
      "a wait for a vendor",
      { _tag: "TurnWaiting", kind: "rate_limited", place: 1 },
      { _tag: "TurnWaiting", kind: "rate_limited", trigger: "error.rate_limited", index: 1 }
    ],
    [
      "a wait for a runtime that is gone",
      { _tag: "TurnWaiting", kind: "gone" },
      { _tag: "TurnWaiting", kind: "gone", trigger: "gone" }
    ],
    ["a wait of today", { _tag: "TurnWaiting", trigger: "gone" }, { _tag: "TurnWaiting", trigger: "gone" }]
  ])("is read in today's words: %s", (_, stored, read) => {
    assert.deepStrictEqual(inTodaysWords(stored), read)
  })

  it.each([undefined, null, "PromptPlanned", 7, {}, { tag: "PromptPlanned" }, { _tag: "SessionPaused", place: 1 }])(
    "is left as it is when it is no event, or one of today: %j",
    (stored) => assert.strictEqual(inTodaysWords(stored), stored)
  )
})

import { assert, describe, it } from "@effect/vitest"
import type { Message } from "@reprise/agent"
import { Effect } from "effect"
import { lastOutputOf } from "../src/work/lastOutput.ts"

const saying = (...texts: ReadonlyArray<string>): ReadonlyArray<Message> =>
  texts.map((text, n) => ({ id: `m${n}`, role: "assistant", content: [{ type: "text", text }] }))

/** Each reading finds the next state of the conversation, and then always the last. */
const conversation = (...states: ReadonlyArray<ReadonlyArray<Message>>) => {
  let readings = 0
  const history = () => Effect.sync(() => states[Math.min(readings++, states.length - 1)] ?? [])
  return { history, readings: () => readings }
}

describe("what an agent said last", () => {
  it.live("is read again while words of it are not stored yet", () =>
    Effect.gen(function* () {
      const late = conversation(saying("Earlier.", ""), saying("Earlier.", ""), saying("Earlier.", "I write it now."))
      assert.deepStrictEqual(yield* lastOutputOf(late, "ses_1"), { lastLines: "I write it now." })
      assert.strictEqual(late.readings(), 3)
    })
  )

  it.live("is read once where nothing is missing, and is what it said earlier where the words never come", () =>
    Effect.gen(function* () {
      const complete = conversation(saying("Done."))
      assert.deepStrictEqual(yield* lastOutputOf(complete, "ses_1"), { lastLines: "Done." })
      assert.strictEqual(complete.readings(), 1)
      assert.deepStrictEqual(yield* lastOutputOf(conversation(saying("Earlier.", "")), "ses_1"), {
        lastLines: "Earlier."
      })
      assert.deepStrictEqual(yield* lastOutputOf(conversation([]), "ses_1"), {})
    })
  )
})

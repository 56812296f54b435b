import { assert, describe, it } from "@effect/vitest"
import { LiveMessage, noTokens } from "@reprise/protocol"
import { Schema } from "effect"
import { type LiveNow, nothingYet, withMessage } from "../src/data/liveNow.ts"

const decode = Schema.decodeUnknownSync(LiveMessage)
const at = { runId: "r1", sessionId: "s1", turnId: "t1", role: "author" }
const said = (part: string, text: string, more: object = {}) =>
  decode({ _tag: "AgentSaid", ...at, part, kind: "text", text, ...more })
const tool = (argument: string, more: object = {}) =>
  decode({ _tag: "ToolStarted", ...at, tool: "bash", argument, ...more })

const after = (...messages: ReadonlyArray<LiveMessage>): LiveNow =>
  messages.reduce((now, message, n) => withMessage(now, message, `${n}`), nothingYet)
const textsOf = ({ lines }: LiveNow) => lines.map(({ text }) => text)

describe("what an agent does right now", () => {
  it("joins the pieces of a text, and begins again after a tool", () =>
    assert.deepStrictEqual(
      textsOf(after(said("p1", "I lo"), said("p1", "ok."), tool("git log"), said("p2", "Done."))),
      ["I look.", "bash git log", "Done."]
    ))

  it("says that the agent wrote faster than anybody reads", () =>
    assert.deepStrictEqual(textsOf(after(said("p1", "a"), said("p1", "z", { omitted: 9 }))), ["a… z"]))

  it("keeps only the newest lines and the end of a long text", () => {
    const now = after(...Array.from({ length: 40 }, (_, n) => tool(`step ${n}`)), said("p", "x".repeat(9_000)))
    assert.lengthOf(now.lines, 12)
    assert.strictEqual(now.lines.at(-1)?.text.length, 4_000)
    assert.strictEqual(now.lines.at(-2)?.text, "bash step 39")
  })

  it("begins again with the next turn, and shows what this one has used", () => {
    const tokens = { ...noTokens, input: 7 }
    const now = after(
      said("p1", "old"),
      decode({ _tag: "UsageSoFar", ...at, turnId: "t2", role: "reviewer", tokens }),
      said("p2", "new", { turnId: "t2", role: "reviewer" })
    )
    assert.deepStrictEqual(textsOf(now), ["new"])
    assert.deepStrictEqual(now.tokens, tokens)
    assert.strictEqual(now.role, "reviewer")
  })
})

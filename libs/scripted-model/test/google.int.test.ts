import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { type ScriptInput, startScriptedModel } from "../src/index.ts"
import { google, payloads, post, script, textOf } from "./support/modelCalls.ts"

const path = (method: string) => `/v1beta/models/scripted:${method}`

const Piece = Schema.Struct({
  candidates: Schema.Tuple([
    Schema.Struct({
      content: Schema.Struct({ parts: Schema.Array(Schema.Record(Schema.String, Schema.Unknown)) }),
      finishReason: Schema.optionalKey(Schema.String)
    })
  ]),
  modelVersion: Schema.String,
  usageMetadata: Schema.optionalKey(Schema.Record(Schema.String, Schema.Finite))
})

describe("Google's protocol", () => {
  it.live("streams text, tool calls by the client's names, and usage", () =>
    Effect.gen(function* () {
      const model = yield* startScriptedModel({ script })
      const response = yield* post(model, `${path("streamGenerateContent")}?alt=sse`, google("use a tool"))
      const all = payloads(Piece, yield* textOf(response))
      const [text, call, last] = all.map(({ candidates: [{ content }] }) => content.parts[0])
      assert.strictEqual(all.length, 3)
      assert.deepStrictEqual(text, { text: "I will." })
      assert.deepInclude(call?.["functionCall"], { name: "run_shell_command", args: { command: "ls" } })
      assert.deepStrictEqual(last, { text: "" })
      assert.strictEqual(all.at(-1)?.candidates[0].finishReason, "STOP")
      assert.deepStrictEqual(all.at(-1)?.usageMetadata, {
        promptTokenCount: 100,
        cachedContentTokenCount: 60,
        candidatesTokenCount: 7,
        totalTokenCount: 107
      })
    })
  )

  it.live("answers with one body when the client does not stream, and says when the output limit was reached", () =>
    Effect.gen(function* () {
      const cut: ScriptInput = { rules: [{ reply: { text: "never end", cutOff: true } }] }
      const model = yield* startScriptedModel({ script: cut })
      const response = yield* post(model, path("generateContent"), google("count"))
      const { candidates } = JSON.parse(yield* textOf(response))
      assert.strictEqual(candidates[0].finishReason, "MAX_TOKENS")
      assert.deepStrictEqual(candidates[0].content.parts, [{ text: "never end" }])
    })
  )

  it.live("counts tokens without a call, and serves no other method", () =>
    Effect.gen(function* () {
      const model = yield* startScriptedModel({ script })
      const counted = yield* post(model, path("countTokens"), google("use a tool"))
      assert.isAbove(JSON.parse(yield* textOf(counted)).totalTokens, 20)
      assert.strictEqual((yield* post(model, path("embedContent"), google("use a tool"))).status, 404)
      assert.deepStrictEqual(yield* model.calls, [])
    })
  )

  it.live("reads results and the text beside them as messages, and leaves out what the agent adds by itself", () =>
    Effect.gen(function* () {
      const model = yield* startScriptedModel({ script })
      const body = google("start")
      const call = (id: string, command: string) => ({
        functionCall: { id, name: "run_shell_command", args: { command } }
      })
      const result = (id: string, response: object) => ({
        functionResponse: { id, name: "run_shell_command", response }
      })
      yield* post(model, path("streamGenerateContent"), {
        ...body,
        contents: [
          ...body.contents,
          {
            role: "model",
            parts: [{ text: "Hm.", thought: true }, { text: "Both." }, call("c1", "ls"), call("c2", "pwd")]
          },
          {
            role: "user",
            parts: [result("c1", { output: "a.txt" }), result("c2", { error: "no" }), { text: "and now use a tool" }]
          }
        ]
      })
      const [seen] = yield* model.calls
      assert.deepInclude(seen, {
        protocol: "google",
        model: "scripted",
        effort: "HIGH",
        tools: ["run_shell_command"],
        system: "Be brief."
      })
      assert.deepStrictEqual(seen?.messages, [
        { role: "user", text: "start" },
        {
          role: "assistant",
          text: "Both.",
          toolCalls: [
            { callId: "c1", tool: "run_shell_command", args: { command: "ls" } },
            { callId: "c2", tool: "run_shell_command", args: { command: "pwd" } }
          ]
        },
        { role: "tool", callId: "c1", text: "a.txt" },
        { role: "tool", callId: "c2", text: "no" },
        { role: "user", text: "and now use a tool" }
      ])
    })
  )
})

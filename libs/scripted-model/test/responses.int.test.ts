import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { type ScriptInput, startScriptedModel } from "../src/index.ts"
import { payloads, post, responses, script, textOf } from "./support/modelCalls.ts"

const ResponseEvent = Schema.Struct({
  type: Schema.String,
  sequence_number: Schema.Int,
  delta: Schema.optionalKey(Schema.String),
  item: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)),
  response: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown))
})

describe("OpenAI's protocol of responses", () => {
  it.live("streams text, tool calls by the client's names, and usage", () =>
    Effect.gen(function* () {
      const model = yield* startScriptedModel({ script })
      const response = yield* post(model, "/v1/responses", responses("use a tool", true))
      const events = payloads(ResponseEvent, yield* textOf(response))
      assert.deepStrictEqual(
        events.map(({ type }) => type.replace("response.", "")),
        [
          "created",
          "output_item.added",
          "content_part.added",
          "output_text.delta",
          "output_text.done",
          "content_part.done",
          "output_item.done",
          "output_item.added",
          "function_call_arguments.delta",
          "function_call_arguments.done",
          "output_item.done",
          "completed"
        ]
      )
      assert.deepStrictEqual(
        events.map((event) => event.sequence_number),
        events.map((_, i) => i)
      )
      assert.strictEqual(events[3]?.delta, "I will.")
      assert.deepInclude(events[10]?.item, { type: "function_call", name: "exec_command", arguments: `{"cmd":"ls"}` })
      assert.deepInclude(events.at(-1)?.response, {
        status: "completed",
        usage: {
          input_tokens: 100,
          input_tokens_details: { cached_tokens: 60 },
          output_tokens: 7,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: 107
        }
      })
    })
  )

  it.live("answers with one body when the client does not stream, and says when the output limit was reached", () =>
    Effect.gen(function* () {
      const cut: ScriptInput = { rules: [{ reply: { text: "never end", cutOff: true } }] }
      const model = yield* startScriptedModel({ script: cut })
      const response = yield* post(model, "/v1/responses", { model: "scripted", input: "count" })
      const { incomplete_details, output, status } = JSON.parse(yield* textOf(response))
      assert.deepStrictEqual([status, incomplete_details.reason], ["incomplete", "max_output_tokens"])
      assert.strictEqual(output[0].content[0].text, "never end")
    })
  )

  it.live("reads the items of one reply as one message, and leaves out what the agent adds by itself", () =>
    Effect.gen(function* () {
      const model = yield* startScriptedModel({ script })
      const body = responses("start")
      yield* post(model, "/v1/responses", {
        ...body,
        reasoning: { effort: "high" },
        input: [
          ...body.input,
          { type: "reasoning", summary: [], content: null },
          { type: "message", role: "assistant", content: [{ type: "output_text", text: "Both." }] },
          { type: "function_call", call_id: "c1", name: "exec_command", arguments: `{"cmd":"ls"}` },
          { type: "function_call", call_id: "c2", name: "exec_command", arguments: `{"cmd":"pwd"}` },
          { type: "function_call_output", call_id: "c1", output: "a.txt" },
          { type: "function_call_output", call_id: "c2", output: [{ type: "input_text", text: "/work" }] },
          { role: "user", content: "and now use a tool" }
        ]
      })
      const [call] = yield* model.calls
      assert.deepInclude(call, { effort: "high", tools: ["exec_command"], system: "Be brief.\nBe kind." })
      assert.deepStrictEqual(call?.messages, [
        { role: "user", text: "start" },
        {
          role: "assistant",
          text: "Both.",
          toolCalls: [
            { callId: "c1", tool: "exec_command", args: { cmd: "ls" } },
            { callId: "c2", tool: "exec_command", args: { cmd: "pwd" } }
          ]
        },
        { role: "tool", callId: "c1", text: "a.txt" },
        { role: "tool", callId: "c2", text: "/work" },
        { role: "user", text: "and now use a tool" }
      ])
    })
  )

  it.live("counts the tokens of a repeated beginning as cached, and knows a session by the key of its cache", () =>
    Effect.gen(function* () {
      const model = yield* startScriptedModel({ script: { rules: [{ reply: { text: "ok" } }] } })
      const send = (content: string) =>
        Effect.promise(() =>
          fetch(`${model.url}/v1/responses`, {
            method: "POST",
            body: JSON.stringify({ ...responses(content), prompt_cache_key: "thread" })
          })
        )
      yield* send("one")
      yield* send("two")
      const [first, second] = yield* model.calls
      assert.deepStrictEqual([first?.session, first?.usage.cachedTokens], ["thread", 0])
      assert.isAbove(second?.usage.cachedTokens ?? 0, 20)
    })
  )
})

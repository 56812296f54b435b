import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Schema } from "effect"
import { startScriptedModel } from "../src/index.ts"
import { google, payloads, post, responses, script, textOf } from "./support/modelCalls.ts"

const bash = { type: "object", properties: { command: {} }, required: ["command"] }
const openai = (content: string, stream = false) => ({
  model: "scripted",
  stream,
  stream_options: { include_usage: true },
  tools: [{ type: "function", function: { name: "bash", parameters: bash } }],
  messages: [
    { role: "system", content: "Be brief." },
    { role: "user", content: [{ type: "text", text: content }] }
  ]
})
const anthropic = (content: string, stream = false) => ({
  model: "scripted",
  stream,
  max_tokens: 100,
  system: [{ type: "text", text: "Be brief." }],
  tools: [{ name: "bash", input_schema: bash }],
  messages: [{ role: "user", content: `<system-reminder>not said</system-reminder>${content}` }]
})
const Chunk = Schema.Struct({
  choices: Schema.Array(
    Schema.Struct({
      delta: Schema.Struct({
        content: Schema.optionalKey(Schema.String),
        tool_calls: Schema.optionalKey(
          Schema.Array(
            Schema.Struct({
              function: Schema.Struct({ name: Schema.optionalKey(Schema.String), arguments: Schema.String })
            })
          )
        )
      }),
      finish_reason: Schema.NullOr(Schema.String)
    })
  ),
  usage: Schema.optionalKey(Schema.Unknown)
})

const Event = Schema.Struct({
  type: Schema.String,
  message: Schema.optionalKey(Schema.Struct({ usage: Schema.Record(Schema.String, Schema.Finite) })),
  content_block: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)),
  delta: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)),
  usage: Schema.optionalKey(Schema.Unknown)
})

describe("the OpenAI protocol", () => {
  it.live("streams text, tool calls and usage", () =>
    Effect.gen(function* () {
      const model = yield* startScriptedModel({ script })
      const response = yield* post(model, "/v1/chat/completions", openai("use a tool", true))
      const stream = yield* textOf(response)
      assert.match(stream, /data: \[DONE\]\n\n$/)
      const chunks = payloads(Chunk, stream)
      const deltas = chunks.flatMap((chunk) => chunk.choices.map((choice) => choice.delta))
      assert.strictEqual(deltas.map((delta) => delta.content ?? "").join(""), "I will.")
      const calls = deltas.flatMap((delta) => delta.tool_calls ?? [])
      assert.strictEqual(calls[0]?.function.name, "bash")
      assert.strictEqual(calls.map((call) => call.function.arguments).join(""), `{"command":"ls"}`)
      assert.strictEqual(chunks.at(-2)?.choices[0]?.finish_reason, "tool_calls")
      assert.deepStrictEqual(chunks.at(-1)?.usage, {
        prompt_tokens: 100,
        completion_tokens: 7,
        total_tokens: 107,
        prompt_tokens_details: { cached_tokens: 60 }
      })
    })
  )

  it.live("answers with one body when the client does not stream", () =>
    Effect.gen(function* () {
      const model = yield* startScriptedModel({ script })
      const response = yield* post(model, "/v1/chat/completions", openai("use a tool"))
      const { choices } = JSON.parse(yield* textOf(response))
      assert.deepInclude(choices[0].message, { role: "assistant", content: "I will." })
      assert.deepStrictEqual(choices[0].message.tool_calls[0].function, { name: "bash", arguments: `{"command":"ls"}` })
    })
  )
})

describe("the Anthropic protocol", () => {
  it.live("streams blocks from message_start to message_stop, and counts cached tokens separately", () =>
    Effect.gen(function* () {
      const model = yield* startScriptedModel({ script })
      const response = yield* post(model, "/v1/messages?beta=true", anthropic("use a tool", true))
      const all = payloads(Event, yield* textOf(response))
      assert.deepStrictEqual(
        all.map((event) => event.type),
        [
          "message_start",
          "content_block_start",
          "content_block_delta",
          "content_block_stop",
          "content_block_start",
          "content_block_delta",
          "content_block_stop",
          "message_delta",
          "message_stop"
        ]
      )
      assert.deepInclude(all[0]?.message?.usage, { input_tokens: 40, cache_read_input_tokens: 60 })
      assert.deepInclude(all[4]?.content_block, { type: "tool_use", name: "bash" })
      assert.deepStrictEqual(all[5]?.delta, { type: "input_json_delta", partial_json: `{"command":"ls"}` })
      assert.deepStrictEqual(all[7]?.usage, { output_tokens: 7 })
      assert.strictEqual(all[7]?.delta?.stop_reason, "tool_use")
    })
  )

  it.live("answers with one body when the client does not stream, counts tokens, and lists the model", () =>
    Effect.gen(function* () {
      const model = yield* startScriptedModel({ script })
      const response = yield* post(model, "/v1/messages", anthropic("use a tool"))
      const message = JSON.parse(yield* textOf(response))
      assert.deepInclude(message.content[1], { type: "tool_use", name: "bash", input: { command: "ls" } })
      const counted = yield* post(model, "/v1/messages/count_tokens", anthropic("use a tool"))
      assert.isAbove(JSON.parse(yield* textOf(counted)).input_tokens, 20)
      const models = yield* Effect.promise(() => fetch(`${model.url}/v1/models`))
      assert.strictEqual(JSON.parse(yield* textOf(models)).data[0].id, "scripted")
      assert.strictEqual((yield* model.calls).length, 1)
    })
  )

  it.live("reads tool results and the text beside them as separate messages", () =>
    Effect.gen(function* () {
      const model = yield* startScriptedModel({ script })
      yield* post(model, "/v1/messages", {
        model: "scripted",
        messages: [
          { role: "user", content: "start" },
          { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "bash", input: { command: "ls" } }] },
          {
            role: "user",
            content: [
              { type: "tool_result", tool_use_id: "t1", content: [{ type: "text", text: "a.txt" }] },
              { type: "text", text: "and now use a tool" }
            ]
          }
        ]
      })
      const [call] = yield* model.calls
      assert.deepStrictEqual(call?.messages, [
        { role: "user", text: "start" },
        { role: "assistant", text: "", toolCalls: [{ callId: "t1", tool: "bash", args: { command: "ls" } }] },
        { role: "tool", callId: "t1", text: "a.txt" },
        { role: "user", text: "and now use a tool" }
      ])
    })
  )
})

describe.each([
  ["openai", "/v1/chat/completions", openai],
  ["responses", "/v1/responses", responses],
  ["anthropic", "/v1/messages", anthropic],
  ["google", "/v1beta/models/scripted:streamGenerateContent?alt=sse", google]
] as const)("faults and holds over the %s protocol", (protocol, path, body) => {
  it.live("cuts the connection in the middle of a stream, once", () =>
    Effect.gen(function* () {
      const model = yield* startScriptedModel({ script })
      const broken = yield* post(model, path, body("break off", true))
      assert.strictEqual(broken.status, 200)
      yield* Effect.flip(textOf(broken))
      const whole = yield* textOf(yield* post(model, path, body("break off", true)))
      assert.include(whole, "0123456789")
      assert.deepStrictEqual(
        (yield* model.calls).map((call) => call.outcome),
        ["fault", "answered"]
      )
    })
  )

  it.live("answers 429 with a retry-after header, once", () =>
    Effect.gen(function* () {
      const model = yield* startScriptedModel({ script })
      const limited = yield* post(model, path, body("too many"))
      assert.deepStrictEqual([limited.status, limited.headers.get("retry-after")], [429, "3"])
      assert.include(yield* textOf(limited), "slow down")
      assert.strictEqual((yield* post(model, path, body("too many"))).status, 200)
    })
  )

  it.live("holds a reply in its middle until a test releases it", () =>
    Effect.gen(function* () {
      const model = yield* startScriptedModel({ script })
      const response = yield* post(model, path, body("wait", true))
      yield* model.awaitHeld("middle")
      assert.isNotNull(response.body)
      const reader = response.body?.getReader()
      const first = yield* Effect.promise(async () => new TextDecoder().decode((await reader?.read())?.value))
      assert.notInclude(first, "two")
      yield* model.release("middle")
      const rest = yield* Effect.promise(async () => {
        let text = ""
        for (let next = await reader?.read(); next?.done === false; next = await reader?.read()) {
          text += new TextDecoder().decode(next.value)
        }
        return text
      })
      assert.include(rest, "two")
    })
  )

  it.live("holds a whole reply, is released over HTTP, and holds again after a rearm", () =>
    Effect.gen(function* () {
      const model = yield* startScriptedModel({ script })
      const control = (method: string, verb: string) =>
        Effect.promise(() => fetch(`${model.url}/control/${verb}/before`, { method }))
      const heldUntilReleased = Effect.fnUntraced(function* () {
        const answer = yield* Effect.forkChild(post(model, path, body("later")))
        yield* control("GET", "reached")
        assert.isUndefined(answer.pollUnsafe())
        yield* control("POST", "release")
        assert.strictEqual((yield* Fiber.join(answer)).status, 200)
      })
      yield* heldUntilReleased()
      assert.strictEqual((yield* post(model, path, body("later"))).status, 200)
      yield* control("POST", "rearm")
      yield* heldUntilReleased()
    })
  )

  it.live("refuses a malformed body and a call without a matching rule, and shows both as unmatched", () =>
    Effect.gen(function* () {
      const model = yield* startScriptedModel({ script })
      const wrong = yield* post(model, path, { messages: "none" })
      const unforeseen = yield* post(model, path, body("something else"))
      assert.deepStrictEqual([wrong.status, unforeseen.status], [400, 400])
      assert.include(yield* textOf(wrong), `the body does not follow the ${protocol} protocol`)
      const unmatched = yield* model.unmatched
      assert.deepStrictEqual(
        unmatched.map((call) => call.outcome),
        ["invalid", "unmatched"]
      )
    })
  )
})

describe("the recorded calls", () => {
  it.live("can be read in memory, over HTTP and from a file", () =>
    Effect.gen(function* () {
      const directory = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "reprise-record-"))),
        (path) => Effect.sync(() => rmSync(path, { recursive: true }))
      )
      const recordPath = join(directory, "calls.jsonl")
      const model = yield* startScriptedModel({ script, recordPath })
      yield* post(model, "/v1/chat/completions", openai("use a tool"))
      yield* model.play({ rules: [{ name: "other", reply: { text: "another script" } }] })
      yield* post(model, "/v1/messages", anthropic("anything"))
      const calls = yield* model.calls
      assert.deepStrictEqual(
        calls.map(({ sequence, protocol, session, rule, lastUser }) => ({
          sequence,
          protocol,
          session,
          rule,
          lastUser
        })),
        [
          { sequence: 1, protocol: "openai", session: "s1", rule: "rule 0", lastUser: "use a tool" },
          { sequence: 2, protocol: "anthropic", session: "s1", rule: "other", lastUser: "anything" }
        ]
      )
      const served = yield* Effect.promise(async () => (await fetch(`${model.url}/control/calls`)).json())
      assert.deepStrictEqual(served, calls)
      const lines = readFileSync(recordPath, "utf8").trim().split("\n")
      assert.deepStrictEqual(
        lines.map((line) => JSON.parse(line)),
        [...calls]
      )
    })
  )
})

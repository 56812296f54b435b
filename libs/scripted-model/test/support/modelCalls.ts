/** What the tests of the protocols share: a script, calls of a client, and what they bring. */
import { Effect, Schema } from "effect"
import type { ScriptedModelHandle, ScriptInput } from "../../src/index.ts"

export const script: ScriptInput = {
  rules: [
    {
      match: { lastUser: "use a tool" },
      reply: { text: "I will.", bash: "ls", usage: { inputTokens: 100, cachedTokens: 60, outputTokens: 7 } }
    },
    { match: { lastUser: "break off" }, reply: { text: "0123456789", fault: { disconnectAfterChars: 4 } } },
    {
      match: { lastUser: "too many" },
      reply: { text: "fine", fault: { status: 429, retryAfterSeconds: 3, body: { error: { message: "slow down" } } } }
    },
    { match: { lastUser: "wait" }, reply: { text: "one two", hold: { name: "middle", afterChars: 4 } } },
    { match: { lastUser: "later" }, reply: { text: "sent", hold: "before" } }
  ]
}

export const post = (model: ScriptedModelHandle, path: string, body: unknown) =>
  Effect.promise((signal) =>
    fetch(`${model.url}${path}`, {
      method: "POST",
      signal,
      headers: { "content-type": "application/json", "x-session-id": "s1" },
      body: JSON.stringify(body)
    })
  )
export const textOf = (response: Response) => Effect.tryPromise(() => response.text())

const execCommand = { type: "object", properties: { cmd: {}, workdir: {} }, required: ["cmd"] }
/** The body of a call as Codex makes it. */
export const responses = (content: string, stream = false) => ({
  model: "scripted",
  stream,
  instructions: "Be brief.",
  tools: [
    { type: "function", name: "exec_command", strict: false, parameters: execCommand },
    { type: "web_search", external_web_access: false }
  ],
  input: [
    { type: "message", role: "developer", content: [{ type: "input_text", text: "Be kind." }] },
    {
      type: "message",
      role: "user",
      content: [{ type: "input_text", text: "<environment_context>not said</environment_context>" }]
    },
    { type: "message", role: "user", content: [{ type: "input_text", text: content }] }
  ]
})

/** The body of a call as Gemini makes it. */
export const google = (content: string) => ({
  systemInstruction: { role: "user", parts: [{ text: "Be brief." }] },
  tools: [
    {
      functionDeclarations: [
        {
          name: "run_shell_command",
          parametersJsonSchema: {
            type: "object",
            properties: { command: {}, description: {} },
            required: ["command"]
          }
        }
      ]
    },
    { googleSearch: {} }
  ],
  generationConfig: { temperature: 0, thinkingConfig: { includeThoughts: true, thinkingLevel: "HIGH" } },
  contents: [
    { role: "user", parts: [{ text: "<session_context>not said</session_context>" }] },
    { role: "user", parts: [{ text: content }] }
  ]
})

/** The payloads of a stream of server-sent events. */
export const payloads = <S extends Schema.ConstraintDecoder<unknown>>(
  schema: S,
  stream: string
): ReadonlyArray<S["Type"]> =>
  [...stream.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => Schema.decodeUnknownSync(schema)(JSON.parse(data ?? "")))

import { Effect, Schema } from "effect"
import { type ModelMessage, type ModelRequest, promptTextOf, withoutReminders } from "../player/ModelRequest.ts"
import type { Reply } from "../player/Reply.ts"
import { ArgumentsSchema, type Frame, offeredTool, type Protocol, pieceLength, pieces } from "./Protocol.ts"

/** Parts that are neither text nor of a call, such as images, are left out; so are thoughts. */
const Part = Schema.Struct({
  text: Schema.optionalKey(Schema.String),
  thought: Schema.optionalKey(Schema.Boolean),
  functionCall: Schema.optionalKey(
    Schema.Struct({
      id: Schema.optionalKey(Schema.String),
      name: Schema.String,
      args: Schema.optionalKey(Schema.Unknown)
    })
  ),
  functionResponse: Schema.optionalKey(
    Schema.Struct({
      id: Schema.optionalKey(Schema.String),
      name: Schema.String,
      response: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown))
    })
  )
})
type Part = typeof Part.Type

const Content = Schema.Struct({
  role: Schema.optionalKey(Schema.Literals(["user", "model"])),
  parts: Schema.optionalKey(Schema.Array(Part))
})

/** The schema of a tool's arguments has one of two names; tools that the vendor runs itself have no declarations. */
const Declaration = Schema.Struct({
  name: Schema.String,
  parameters: Schema.optionalKey(ArgumentsSchema),
  parametersJsonSchema: Schema.optionalKey(ArgumentsSchema)
})

const Body = Schema.Struct({
  contents: Schema.Array(Content),
  systemInstruction: Schema.optionalKey(Content),
  tools: Schema.optionalKey(
    Schema.Array(Schema.Struct({ functionDeclarations: Schema.optionalKey(Schema.Array(Declaration)) }))
  ),
  generationConfig: Schema.optionalKey(
    Schema.Struct({
      thinkingConfig: Schema.optionalKey(Schema.Struct({ thinkingLevel: Schema.optionalKey(Schema.String) }))
    })
  ),
  /** These two are in the path of a call. */
  model: Schema.String,
  stream: Schema.Boolean
})

const decodeBody = Schema.decodeUnknownEffect(Body, { errors: "all" })

/** What is called in a path such as `gemini-2.5-flash:streamGenerateContent`. */
export const calledIn = (path: string): { readonly model: string; readonly method: string } => {
  const [, model = "", method = ""] = /^(.*):(\w+)$/.exec(path) ?? []
  return { model, method }
}

const textOf = (parts: ReadonlyArray<Part>): string =>
  parts.flatMap(({ text, thought }) => (text === undefined || thought === true ? [] : [text])).join("\n")

/** A client puts what a tool said below `output`, or `error`. */
const resultOf = (response: Readonly<Record<string, unknown>> = {}): string => {
  const said = response["output"] ?? response["error"] ?? response
  return typeof said === "string" ? said : JSON.stringify(said)
}

/** One content of the user may hold tool results and a text: it becomes a message for each result, then one for the text. */
const toMessages = ({ parts = [], role }: typeof Content.Type): ReadonlyArray<ModelMessage> => {
  const text = textOf(parts)
  if (role === "model") {
    const toolCalls = parts.flatMap(({ functionCall: call }) =>
      call === undefined ? [] : [{ callId: call.id ?? call.name, tool: call.name, args: call.args ?? {} }]
    )
    return [{ role: "assistant", text, toolCalls }]
  }
  const results = parts.flatMap(({ functionResponse: it }) =>
    it === undefined ? [] : [{ role: "tool" as const, callId: it.id ?? it.name, text: resultOf(it.response) }]
  )
  const said = withoutReminders(text)
  return said === "" ? results : [...results, { role: "user", text: said }]
}

const decodeRequest = Effect.fnUntraced(function* (body: unknown, session: string) {
  const input = yield* decodeBody(body)
  const declared = (input.tools ?? []).flatMap(({ functionDeclarations = [] }) => functionDeclarations)
  const request: ModelRequest = {
    protocol: "google",
    model: input.model,
    effort: input.generationConfig?.thinkingConfig?.thinkingLevel ?? "",
    session,
    stream: input.stream,
    includeUsage: true,
    system: textOf(input.systemInstruction?.parts ?? []),
    messages: input.contents.flatMap(toMessages),
    tools: declared.map(({ name, parameters, parametersJsonSchema }) =>
      offeredTool(name, parametersJsonSchema ?? parameters)
    ),
    promptText: promptTextOf(body)
  }
  return request
})

/** This protocol counts cached tokens among those of the prompt. */
const usageOf = ({ usage }: Reply) => ({
  promptTokenCount: usage.inputTokens,
  cachedContentTokenCount: usage.cachedTokens,
  candidatesTokenCount: usage.outputTokens,
  totalTokenCount: usage.inputTokens + usage.outputTokens
})

const callPart = ({ args, id, name }: Reply["toolCalls"][number]) => ({ functionCall: { id, name, args } })

/** `finished`: it is the last piece of the reply, which tells why it ends and what was used. */
const response = (reply: Reply, parts: ReadonlyArray<unknown>, finished: boolean) => ({
  candidates: [
    {
      index: 0,
      content: { role: "model", parts },
      ...(finished ? { finishReason: reply.step.cutOff === true ? "MAX_TOKENS" : "STOP" } : {})
    }
  ],
  modelVersion: reply.model,
  responseId: reply.id,
  ...(finished ? { usageMetadata: usageOf(reply) } : {})
})

const replyBody = (reply: Reply) =>
  response(
    reply,
    [...(reply.text === "" ? [] : [{ text: reply.text }]), ...reply.toolCalls.map((call) => callPart(call))],
    true
  )

/** A call comes whole: this protocol has no pieces of its arguments. */
const replyFrames = (reply: Reply): ReadonlyArray<Frame> => {
  const frame = (parts: ReadonlyArray<unknown>, chars: number, finished = false): Frame => ({
    bytes: `data: ${JSON.stringify(response(reply, parts, finished))}\n\n`,
    chars
  })
  return [
    ...pieces(reply.text, pieceLength(reply)).map((text) => frame([{ text }], text.length)),
    ...reply.toolCalls.map((call) => frame([callPart(call)], JSON.stringify(call.args).length)),
    frame([{ text: "" }], 0, true)
  ]
}

const statusWords: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  503: "UNAVAILABLE"
}

const errorBody = (status: number, message: string) => ({
  error: { code: status, message, status: statusWords[status] ?? "INTERNAL" }
})

/** `POST /v1beta/models/MODEL:generateContent`, `:streamGenerateContent` and `:countTokens`. */
export const google: Protocol = { decodeRequest, replyBody, replyFrames, errorBody }

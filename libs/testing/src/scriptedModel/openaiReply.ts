import { type Frame, pieceLength, pieces, type Reply } from "./Reply.ts"

const frame = (data: unknown, chars = 0): Frame => ({ bytes: `data: ${JSON.stringify(data)}\n\n`, chars })

const usageOf = ({ usage }: Reply) => ({
  prompt_tokens: usage.inputTokens,
  completion_tokens: usage.outputTokens,
  total_tokens: usage.inputTokens + usage.outputTokens,
  prompt_tokens_details: { cached_tokens: usage.cachedTokens }
})

const finishReason = (reply: Reply) =>
  reply.step.cutOff === true ? "length" : reply.toolCalls.length > 0 ? "tool_calls" : "stop"

/** The answer to a non-streaming `POST /v1/chat/completions`. */
export const openaiBody = (reply: Reply, createdSeconds: number) => ({
  id: reply.id,
  object: "chat.completion",
  created: createdSeconds,
  model: reply.model,
  choices: [
    {
      index: 0,
      finish_reason: finishReason(reply),
      message: {
        role: "assistant",
        content: reply.text === "" ? null : reply.text,
        ...(reply.toolCalls.length === 0
          ? {}
          : {
              tool_calls: reply.toolCalls.map((call) => ({
                id: call.id,
                type: "function",
                function: { name: call.name, arguments: JSON.stringify(call.args) }
              }))
            })
      }
    }
  ],
  usage: usageOf(reply)
})

/** The frames of a streamed answer; a usage chunk ends it when the client asked for one. */
export const openaiFrames = (reply: Reply, createdSeconds: number, includeUsage: boolean): ReadonlyArray<Frame> => {
  const base = { id: reply.id, object: "chat.completion.chunk", created: createdSeconds, model: reply.model }
  const delta = (delta: unknown, chars = 0, finish_reason: string | null = null) =>
    frame({ ...base, choices: [{ index: 0, delta, finish_reason }] }, chars)
  const length = pieceLength(reply)
  return [
    delta({ role: "assistant", content: "" }),
    ...pieces(reply.text, length).map((piece) => delta({ content: piece }, piece.length)),
    ...reply.toolCalls.flatMap((call, index) => [
      delta({ tool_calls: [{ index, id: call.id, type: "function", function: { name: call.name, arguments: "" } }] }),
      ...pieces(JSON.stringify(call.args), length).map((piece) =>
        delta({ tool_calls: [{ index, function: { arguments: piece } }] }, piece.length)
      )
    ]),
    delta({}, 0, finishReason(reply)),
    ...(includeUsage ? [frame({ ...base, choices: [], usage: usageOf(reply) })] : []),
    { bytes: "data: [DONE]\n\n", chars: 0 }
  ]
}

/** An error in the protocol's words. */
export const openaiError = (status: number, message: string) => ({
  error: {
    message,
    type: status === 429 ? "rate_limit_error" : status >= 500 ? "server_error" : "invalid_request_error"
  }
})

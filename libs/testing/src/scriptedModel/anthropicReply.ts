import { type Frame, pieceLength, pieces, type Reply } from "./Reply.ts"

const frame = (data: { readonly type: string } & Record<string, unknown>, chars = 0): Frame => ({
  bytes: `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`,
  chars
})

/** This protocol counts cached tokens apart from the new ones. */
const usageOf = ({ usage }: Reply, outputTokens: number) => ({
  input_tokens: usage.inputTokens - usage.cachedTokens,
  cache_read_input_tokens: usage.cachedTokens,
  cache_creation_input_tokens: 0,
  output_tokens: outputTokens
})

const stopReason = (reply: Reply) =>
  reply.step.cutOff === true ? "max_tokens" : reply.toolCalls.length > 0 ? "tool_use" : "end_turn"

const header = (reply: Reply) => ({ id: reply.id, type: "message", role: "assistant", model: reply.model })

/** The answer to a non-streaming `POST /v1/messages`. */
export const anthropicBody = (reply: Reply) => ({
  ...header(reply),
  content: [
    ...(reply.text === "" ? [] : [{ type: "text", text: reply.text }]),
    ...reply.toolCalls.map((call) => ({ type: "tool_use", id: call.id, name: call.name, input: call.args }))
  ],
  stop_reason: stopReason(reply),
  stop_sequence: null,
  usage: usageOf(reply, reply.usage.outputTokens)
})

/** The events of a streamed answer, `message_start` to `message_stop`. */
export const anthropicFrames = (reply: Reply): ReadonlyArray<Frame> => {
  const length = pieceLength(reply)
  const block = (index: number, content_block: unknown, deltas: ReadonlyArray<readonly [unknown, number]>) => [
    frame({ type: "content_block_start", index, content_block }),
    ...deltas.map(([delta, chars]) => frame({ type: "content_block_delta", index, delta }, chars)),
    frame({ type: "content_block_stop", index })
  ]
  const texts = reply.text === "" ? [] : [reply.text]
  return [
    frame({
      type: "message_start",
      message: { ...header(reply), content: [], stop_reason: null, stop_sequence: null, usage: usageOf(reply, 1) }
    }),
    ...texts.flatMap((text) =>
      block(
        0,
        { type: "text", text: "" },
        pieces(text, length).map((piece) => [{ type: "text_delta", text: piece }, piece.length] as const)
      )
    ),
    ...reply.toolCalls.flatMap((call, i) =>
      block(
        texts.length + i,
        { type: "tool_use", id: call.id, name: call.name, input: {} },
        pieces(JSON.stringify(call.args), length).map(
          (piece) => [{ type: "input_json_delta", partial_json: piece }, piece.length] as const
        )
      )
    ),
    frame({
      type: "message_delta",
      delta: { stop_reason: stopReason(reply), stop_sequence: null },
      usage: { output_tokens: reply.usage.outputTokens }
    }),
    frame({ type: "message_stop" })
  ]
}

/** An error in the protocol's words. */
export const anthropicError = (status: number, message: string) => ({
  type: "error",
  error: {
    type:
      status === 429
        ? "rate_limit_error"
        : status === 529
          ? "overloaded_error"
          : status >= 500
            ? "api_error"
            : "invalid_request_error",
    message
  }
})

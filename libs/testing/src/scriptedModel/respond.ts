import { setImmediate } from "node:timers/promises"
import { Effect, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { anthropicBody, anthropicError, anthropicFrames } from "./anthropicReply.ts"
import type { Holds } from "./Holds.ts"
import type { ModelRequest } from "./ModelRequest.ts"
import { openaiBody, openaiError, openaiFrames } from "./openaiReply.ts"
import type { Frame, Reply } from "./Reply.ts"

const errorBody = (request: ModelRequest["protocol"], status: number, message: string) =>
  request === "openai" ? openaiError(status, message) : anthropicError(status, message)

/** An error answer in the words of the protocol. */
export const respondError = (protocol: ModelRequest["protocol"], status: number, message: string) =>
  HttpServerResponse.jsonUnsafe(errorBody(protocol, status, message), { status })

/** A fault that ends the connection: thrown into the body's stream, which the HTTP server then cuts. */
class Disconnected extends Error {
  override readonly name = "Disconnected"
}

const framesOf = (request: ModelRequest, reply: Reply, createdSeconds: number): ReadonlyArray<Frame> => {
  if (request.protocol === "openai") {
    if (request.stream) return openaiFrames(reply, createdSeconds, request.includeUsage)
    return [{ bytes: JSON.stringify(openaiBody(reply, createdSeconds)), chars: 0 }]
  }
  return request.stream ? anthropicFrames(reply) : [{ bytes: JSON.stringify(anthropicBody(reply)), chars: 0 }]
}

/** Sends the frames, pausing, holding and cutting where the step says. */
const body = (frames: ReadonlyArray<Frame>, reply: Reply, holds: Holds) => {
  const { step, fault } = reply
  const hold = typeof step.hold === "object" ? step.hold : undefined
  const total = frames.reduce((sum, frame) => sum + frame.chars, 0)
  const stopAt = (chars: number | undefined) => (chars === undefined ? undefined : Math.min(chars, total))
  const cutAt = stopAt(fault?.disconnectAfterChars)
  const holdAt = stopAt(hold?.afterChars)
  let sent = 0
  let held = false
  const send = Effect.fnUntraced(function* (frame: Frame) {
    if (hold !== undefined && holdAt !== undefined && !held && sent >= holdAt && holdAt > 0) {
      held = true
      yield* holds.wait(hold.name)
    }
    if (cutAt !== undefined && sent >= cutAt) {
      // What was sent before the cut must have left this process, or the client sees no answer at all.
      yield* Effect.promise(() => setImmediate())
      return yield* Effect.die(new Disconnected("cut by the script"))
    }
    sent += frame.chars
    if (frame.chars > 0 && step.chunkDelayMs !== undefined) yield* Effect.sleep(step.chunkDelayMs)
    return frame.bytes
  })
  return Stream.fromIterable(frames).pipe(Stream.mapEffect(send), Stream.encodeText)
}

/** Answers a call: waits as the step says, then fails as its fault says or sends the reply. */
export const respond = Effect.fnUntraced(function* (
  request: ModelRequest,
  reply: Reply,
  holds: Holds,
  createdSeconds: number
) {
  const { step, fault } = reply
  if (step.delayMs !== undefined) yield* Effect.sleep(step.delayMs)
  const holdBefore = typeof step.hold === "string" ? step.hold : step.hold?.afterChars ? undefined : step.hold?.name
  if (holdBefore !== undefined) yield* holds.wait(holdBefore)
  if (fault?.status !== undefined) {
    const headers = fault.retryAfterSeconds === undefined ? {} : { "retry-after": String(fault.retryAfterSeconds) }
    const content = fault.body ?? errorBody(request.protocol, fault.status, `Scripted failure ${fault.status}`)
    return HttpServerResponse.jsonUnsafe(content, { status: fault.status, headers })
  }
  return HttpServerResponse.stream(body(framesOf(request, reply, createdSeconds), reply, holds), {
    contentType: request.stream ? "text/event-stream" : "application/json"
  })
})

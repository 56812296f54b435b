import { setImmediate } from "node:timers/promises"
import { Effect, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import type { ModelRequest } from "../player/ModelRequest.ts"
import type { Reply } from "../player/Reply.ts"
import { anthropic } from "../protocols/anthropic.ts"
import { google } from "../protocols/google.ts"
import { openai } from "../protocols/openai.ts"
import type { Frame, Protocol } from "../protocols/Protocol.ts"
import { responses } from "../protocols/responses.ts"
import type { Holds } from "./Holds.ts"

export const protocols: Readonly<Record<ModelRequest["protocol"], Protocol>> = {
  openai,
  responses,
  anthropic,
  google
}

/** An error response in the format of the protocol. */
export const respondError = (protocol: ModelRequest["protocol"], status: number, message: string) =>
  HttpServerResponse.jsonUnsafe(protocols[protocol].errorBody(status, message), { status })

/** Thrown into the stream of a response body, so that the HTTP server cuts the connection. */
class Disconnected extends Error {
  override readonly name = "Disconnected"
}

const framesOf = (request: ModelRequest, reply: Reply, createdSeconds: number): ReadonlyArray<Frame> => {
  const protocol = protocols[request.protocol]
  return request.stream
    ? protocol.replyFrames(reply, request, createdSeconds)
    : [{ bytes: JSON.stringify(protocol.replyBody(reply, createdSeconds)), chars: 0 }]
}

/** The frames as a stream that pauses, holds and breaks off where the step says. */
const responseBody = (frames: ReadonlyArray<Frame>, reply: Reply, holds: Holds) => {
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
      // Frames sent before the cut must have left this process, or the client sees no response at all.
      yield* Effect.promise(() => setImmediate())
      return yield* Effect.die(new Disconnected("cut by the script"))
    }
    sent += frame.chars
    if (frame.chars > 0 && step.chunkDelayMs !== undefined) yield* Effect.sleep(step.chunkDelayMs)
    return frame.bytes
  })
  return Stream.fromIterable(frames).pipe(Stream.mapEffect(send), Stream.encodeText)
}

/** Answers a call: waits as the step says, then sends the error of its fault or the reply. */
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
    const content =
      fault.body ?? protocols[request.protocol].errorBody(fault.status, `Scripted failure ${fault.status}`)
    return HttpServerResponse.jsonUnsafe(content, { status: fault.status, headers })
  }
  return HttpServerResponse.stream(responseBody(framesOf(request, reply, createdSeconds), reply, holds), {
    contentType: request.stream ? "text/event-stream" : "application/json"
  })
})

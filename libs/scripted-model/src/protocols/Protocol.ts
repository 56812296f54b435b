import { type Effect, Schema } from "effect"
import type { ModelRequest, OfferedTool } from "../player/ModelRequest.ts"
import type { Reply } from "../player/Reply.ts"

/** The wire format of one vendor: how its requests are read, and how replies and errors are written. */
export interface Protocol {
  /**
   * Reads the body of a request; fails when the body does not follow the protocol.
   * @param session the client's session header, or "" without one
   */
  readonly decodeRequest: (body: unknown, session: string) => Effect.Effect<ModelRequest, Schema.SchemaError>
  /** The reply as one JSON body, for a client that does not stream. */
  readonly replyBody: (reply: Reply, createdSeconds: number) => unknown
  /** The reply as the frames of a stream of server-sent events. */
  readonly replyFrames: (reply: Reply, request: ModelRequest, createdSeconds: number) => ReadonlyArray<Frame>
  readonly errorBody: (status: number, message: string) => unknown
}

/** A frame of a stream, and how many characters of the reply's text or tool arguments it carries. */
export interface Frame {
  readonly bytes: string
  readonly chars: number
}

/** Cuts a text into pieces of the given length; an empty text has none. */
export const pieces = (text: string, length: number): ReadonlyArray<string> =>
  Array.from({ length: Math.ceil(text.length / length) }, (_, i) => text.slice(i * length, (i + 1) * length))

/** The length of a reply's pieces: as its step says, and short enough to stop exactly at a hold or a fault. */
export const pieceLength = (reply: Reply): number => {
  const holdAfter = typeof reply.step.hold === "object" ? reply.step.hold.afterChars : undefined
  const stops = [reply.fault?.disconnectAfterChars, holdAfter].flatMap((at) => (at === undefined || at < 1 ? [] : [at]))
  return Math.max(1, Math.min(reply.step.chunkChars ?? 64, ...stops))
}

/** The JSON schema of a tool's arguments, the same in all protocols. */
export const ArgumentsSchema = Schema.Struct({
  properties: Schema.optional(Schema.Record(Schema.String, Schema.Unknown)),
  required: Schema.optional(Schema.Array(Schema.String))
})

/** An offered tool, from its name and the JSON schema of its arguments. */
export const offeredTool = (name: string, schema: typeof ArgumentsSchema.Type | undefined): OfferedTool => ({
  name,
  properties: Object.keys(schema?.properties ?? {}),
  required: schema?.required ?? []
})

/**
 * A saved conversation, put together from its parts. Each part names the one before it, so that every part is a complete
 * record up to its own time, whatever happened to the parts that were saved after it.
 */
import { Broker, type BrokerFault } from "@reprise/actor"
import type { Message } from "@reprise/agent/message"
import { Effect, Result } from "effect"
import { readPart, type TranscriptPart } from "./SessionFile.ts"

export interface Transcript {
  readonly messages: ReadonlyArray<Message>
  /** When the newest part was read from its runtime. */
  readonly savedAt: string
  /** The objects that it consists of, newest first. */
  readonly objects: ReadonlyArray<string>
}

/** The name under which the whole of it is archived: `session/<session>/<runtime session>`. */
export const wholeOf = (object: string): string => object.split("/").slice(0, 3).join("/")

/** undefined: it is not there, or it is not a conversation. */
const fetchPart = Effect.fnUntraced(function* (object: string) {
  const { transcripts } = yield* Broker
  const text = yield* transcripts.get(object)
  const part = text === undefined ? undefined : readPart(text)
  if (part !== undefined && Result.isFailure(part)) {
    yield* Effect.logWarning(`${object} is not a saved conversation: ${part.failure.message}`)
    return undefined
  }
  return part?.success
})

/** A part takes from those before it as many messages as it says. */
const joined = (newestFirst: ReadonlyArray<TranscriptPart>): ReadonlyArray<Message> =>
  newestFirst.reduceRight<ReadonlyArray<Message>>(
    (before, { after, messages }) => [...before.slice(0, after?.messages ?? 0), ...messages],
    []
  )

const readParts = Effect.fnUntraced(function* (object: string) {
  const objects: Array<string> = []
  const parts: Array<TranscriptPart> = []
  let next: string | undefined = object
  while (next !== undefined && !objects.includes(next)) {
    const part: TranscriptPart | undefined = yield* fetchPart(next)
    if (part === undefined) return undefined
    objects.push(next)
    parts.push(part)
    next = part.after?.object
  }
  const savedAt = parts[0]?.savedAt
  return savedAt === undefined ? undefined : { messages: joined(parts), savedAt, objects }
})

/**
 * The conversation up to this object; undefined: it was not saved, or cannot be read. Parts are removed once the whole is
 * archived: then that is read.
 */
export const readTranscript = (object: string): Effect.Effect<Transcript | undefined, BrokerFault, Broker> =>
  Effect.flatMap(readParts(object), (found) => {
    const whole = wholeOf(object)
    return found === undefined && whole !== object ? readParts(whole) : Effect.succeed(found)
  })

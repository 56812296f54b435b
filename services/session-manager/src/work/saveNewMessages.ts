/** Saves what was said in a session since the last time (docs/design/sessions.md#lifecycle). */
import { createHash } from "node:crypto"
import { Broker, type WorkContext } from "@reprise/actor"
import { AgentRuntimes } from "@reprise/agent"
import type { Message } from "@reprise/agent/message"
import { Clock, Effect } from "effect"
import type { WorkOf } from "../actor/work.ts"
import { readTranscript } from "./readTranscript.ts"
import { fault, reportTo } from "./report.ts"
import { partText } from "./SessionFile.ts"

/** Older messages do not change any more; one that a human takes back is missed by its id. */
const mayChange = 8

/** Of a conversation as it is now: the ids of its messages, and what the newest of them say. */
export const digestOf = (messages: ReadonlyArray<Message>): string => {
  const ids = messages.map(({ id }) => id).join(" ")
  const newest = JSON.stringify(messages.slice(-mayChange))
  return createHash("sha256").update(`${ids} ${newest}`).digest("hex").slice(0, 16)
}

/** How many messages at the beginning of both are the same. */
export const sameMessages = (saved: ReadonlyArray<Message>, messages: ReadonlyArray<Message>): number => {
  const texts = saved.map((message) => JSON.stringify(message))
  const differs = messages.findIndex((message, index) => JSON.stringify(message) !== texts[index])
  return differs === -1 ? messages.length : differs
}

/**
 * How much of the conversation is saved already. Where it is not what it was, since its last message has grown or a human
 * took something back, the saved messages are read and compared.
 */
const savedBefore = Effect.fnUntraced(function* (
  saved: WorkOf<"SaveNewMessages">["saved"],
  messages: ReadonlyArray<Message>
) {
  if (saved === undefined) return undefined
  const { digest, object } = saved
  if (digestOf(messages.slice(0, saved.messages)) === digest) return { object, messages: saved.messages }
  const known = yield* readTranscript(object)
  const same = known === undefined ? 0 : sameMessages(known.messages, messages)
  return same === 0 ? undefined : { object, messages: same }
})

const save = Effect.fnUntraced(function* (
  { object, runtime: name, runtimeSessionId, saved }: WorkOf<"SaveNewMessages">,
  context: WorkContext
) {
  const runtimes = yield* AgentRuntimes
  const { transcripts } = yield* Broker
  const { tell } = yield* reportTo(context)
  const readAt = new Date(yield* Clock.currentTimeMillis).toISOString()
  const messages = yield* runtimes.get(name).pipe(
    Effect.flatMap((runtime) => runtime.history(runtimeSessionId)),
    Effect.catchIf(
      (error) => error.kind === "session-missing",
      () => Effect.succeed([])
    ),
    Effect.mapError(fault("read the conversation"))
  )
  if (messages.length === 0) return
  const after = yield* Effect.mapError(savedBefore(saved, messages), fault("read what was saved"))
  const added = messages.slice(after?.messages ?? 0)
  const isSaved = after !== undefined && added.length === 0 && after.messages === saved?.messages
  const part = isSaved ? after.object : `${object}/${context.id}`
  if (!isSaved) {
    const text = partText({ messages: added, savedAt: readAt, ...(after === undefined ? {} : { after }) })
    yield* Effect.mapError(transcripts.put(part, text), fault("store what was said"))
  }
  const report = { object: part, messages: messages.length, digest: digestOf(messages), readAt }
  yield* tell("saved", { _tag: "RecordSaved", ...report })
})

/** How often it is tried. After that it is left to the next save, which finds all that is missing. */
const tries = 4

/**
 * Idempotent: done again it replaces its own object. A runtime that has lost the session, or has nothing in it, changes
 * nothing of what was saved; one that cannot be reached is tried again a few times.
 */
export const saveNewMessages = Effect.fn("saveNewMessages")(
  (work: WorkOf<"SaveNewMessages">, context: WorkContext) => save(work, context),
  (saving, _, { delivery }) =>
    Effect.catch(saving, (failure) =>
      delivery < tries ? Effect.fail(failure) : Effect.logWarning(`what was said is not saved now: ${failure.message}`)
    )
)

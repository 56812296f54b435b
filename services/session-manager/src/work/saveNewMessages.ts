/** Saves what was said in a session since the last time (docs/design/sessions.md#lifecycle). */
import { createHash } from "node:crypto"
import { Broker, type WorkContext } from "@reprise/actor"
import { AgentRuntimes } from "@reprise/agent"
import type { Message } from "@reprise/agent/message"
import { Clock, Effect, Option } from "effect"
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

type Saved = WorkOf<"SaveNewMessages">["saved"]

/**
 * How much of the conversation is saved already. Where it is not what it was, since its last message has grown or a human
 * took something back, the saved messages are read and compared.
 */
const savedAlready = Effect.fnUntraced(function* (saved: Saved, messages: ReadonlyArray<Message>) {
  if (saved === undefined) return undefined
  const { digest, object } = saved
  if (digestOf(messages.slice(0, saved.messages)) === digest) return { object, messages: saved.messages }
  const known = yield* readTranscript(object)
  const same = known === undefined ? 0 : sameMessages(known.messages, messages)
  return same === 0 ? undefined : { object, messages: same }
})

type Conversation = Pick<WorkOf<"SaveNewMessages">, "object" | "runtime" | "runtimeSessionId">

/** Gives what is saved now. `name`: a piece of work that saves more than once gives each time a name of its own. */
const save = Effect.fnUntraced(function* (
  { object, runtime: runtimeName, runtimeSessionId }: Conversation,
  saved: Saved,
  context: WorkContext,
  name = ""
) {
  const runtimes = yield* AgentRuntimes
  const { transcripts } = yield* Broker
  const { tell } = yield* reportTo(context)
  const readAt = new Date(yield* Clock.currentTimeMillis).toISOString()
  const messages = yield* runtimes.get(runtimeName).pipe(
    Effect.flatMap((runtime) => runtime.history(runtimeSessionId)),
    Effect.catchIf(
      (error) => error.kind === "session-missing",
      () => Effect.succeed([])
    ),
    Effect.mapError(fault("read the conversation"))
  )
  if (messages.length === 0) return saved
  const after = yield* Effect.mapError(savedAlready(saved, messages), fault("read what was saved"))
  const added = messages.slice(after?.messages ?? 0)
  const isSaved = after !== undefined && added.length === 0 && after.messages === saved?.messages
  const part = isSaved ? after.object : `${object}/${context.id}${name}`
  if (!isSaved) {
    const text = partText({ messages: added, savedAt: readAt, ...(after === undefined ? {} : { after }) })
    yield* Effect.mapError(transcripts.put(part, text), fault("store what was said"))
  }
  const now = { object: part, messages: messages.length, digest: digestOf(messages) }
  yield* tell(`saved${name}`, { _tag: "RecordSaved", ...now, readAt })
  return now
})

/**
 * A turn may take hours, and its host may not come back: what is said is saved again and again while it runs. Nothing
 * depends on it: what fails is left to the next time, and to the end of the turn.
 */
export const saveMeanwhile = Effect.fnUntraced(function* (
  conversation: Conversation,
  savedBefore: Saved,
  context: WorkContext,
  everyMs: number
) {
  let saved = savedBefore
  for (let n = 1; everyMs > 0; n++) {
    yield* Effect.sleep(everyMs)
    // Delivered again, it counts from 1 again.
    const now = yield* Effect.option(save(conversation, saved, context, `.${context.delivery}.${n}`))
    saved = Option.getOrElse(now, () => saved)
  }
})

/** How often it is tried. After that it is left to the next save, which finds all that is missing. */
const tries = 4

/**
 * Idempotent: done again it replaces its own object. A runtime that has lost the session, or has nothing in it, changes
 * nothing of what was saved; one that cannot be reached is tried again a few times.
 */
export const saveNewMessages = Effect.fn("saveNewMessages")(
  (work: WorkOf<"SaveNewMessages">, context: WorkContext) => Effect.asVoid(save(work, work.saved, context)),
  (saving, _, { delivery }) =>
    Effect.catch(saving, (failure) =>
      delivery < tries ? Effect.fail(failure) : Effect.logWarning(`what was said is not saved now: ${failure.message}`)
    )
)

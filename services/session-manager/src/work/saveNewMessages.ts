/** Saves what was said in a session since the last time (docs/design/sessions.md#lifecycle). */

import { createHash } from "node:crypto"
import { Broker, type WorkContext, type WorkFault } from "@reprise/actor"
import { AgentRuntimes } from "@reprise/agent"
import type { Message } from "@reprise/agent/message"
import { defined } from "@reprise/protocol"
import { Clock, Duration, Effect, Schedule } from "effect"
import type { WorkOf } from "../session/work.ts"
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
  if (saved === undefined || saved.messages === 0) return undefined
  const { digest, object } = saved
  if (digestOf(messages.slice(0, saved.messages)) === digest) return { object, messages: saved.messages }
  const known = yield* readTranscript(object)
  const same = known === undefined ? 0 : sameMessages(known.messages, messages)
  return same === 0 ? undefined : { object, messages: same }
})

type Conversation = Pick<WorkOf<"SaveNewMessages">, "object" | "runtime" | "runtimeSessionId">

const readConversation = Effect.fnUntraced(function* ({ runtime: name, runtimeSessionId }: Conversation) {
  const runtimes = yield* AgentRuntimes
  return yield* runtimes.get(name).pipe(
    Effect.flatMap((runtime) => runtime.history(runtimeSessionId)),
    Effect.catchIf(
      (error) => error.kind === "session-missing",
      () => Effect.succeed([])
    ),
    Effect.mapError(fault("read the conversation"))
  )
})

/**
 * Gives what is saved now. `name`: of the part and of its report, for work that saves more than once. `growing`: the last
 * message has not ended, so the next part begins with it.
 */
const save = Effect.fnUntraced(function* (
  { object }: Conversation,
  messages: ReadonlyArray<Message>,
  saved: Saved,
  context: WorkContext,
  { growing, name }: { readonly name: string; readonly growing: boolean }
) {
  const { transcripts } = yield* Broker
  const { tell } = yield* reportTo(context)
  const readAt = new Date(yield* Clock.currentTimeMillis).toISOString()
  const after = yield* Effect.mapError(savedAlready(saved, messages), fault("read what was saved"))
  const added = messages.slice(after?.messages ?? 0)
  const isSaved = after !== undefined && added.length === 0 && after.messages === saved?.messages
  const part = isSaved ? after.object : `${object}/${context.id}${name}`
  if (!isSaved) {
    const text = partText({ messages: added, savedAt: readAt, ...defined({ after }) })
    yield* Effect.mapError(transcripts.put(part, text), fault("store what was said"))
  }
  const known = growing ? messages.slice(0, -1) : messages
  const now = { object: part, messages: known.length, digest: digestOf(known) }
  yield* tell(`saved${name}`, { _tag: "RecordSaved", ...now, readAt })
  return now
})

/**
 * A turn may take hours, and its host may not come back: what is said is saved again and again while it runs. Nothing
 * depends on it: what fails is left to the next time, and to the end of the turn. `since`: when it was saved last.
 */
export const saveMeanwhile = Effect.fnUntraced(function* (
  conversation: Conversation,
  last: { readonly saved?: Saved; readonly since: string },
  context: WorkContext,
  every: Duration.Duration
) {
  let { saved } = last
  let seen = ""
  const saveNow = Effect.gen(function* () {
    const messages = yield* readConversation(conversation)
    const digest = digestOf(messages)
    if (messages.length === 0 || digest === seen) return
    const name = `.${yield* Clock.currentTimeMillis}`
    saved = yield* save(conversation, messages, saved, context, { name, growing: true })
    seen = digest
  })
  const warn = ({ message }: WorkFault) => Effect.logWarning(`what is said is not saved now: ${message}`)
  const sinceLast = (yield* Clock.currentTimeMillis) - Date.parse(last.since)
  yield* Effect.sleep(Duration.subtract(every, Duration.millis(sinceLast)))
  yield* Effect.repeat(Effect.catch(saveNow, warn), Schedule.spaced(every))
})

/** How often it is tried. After that it is left to the next save, which finds all that is missing. */
const tries = 4

/**
 * Idempotent: done again it replaces its own object. A runtime that has lost the session, or has nothing in it, changes
 * nothing of what was saved; one that cannot be reached is tried again a few times.
 */
export const saveNewMessages = Effect.fn("saveNewMessages")(
  function* (work: WorkOf<"SaveNewMessages">, context: WorkContext) {
    const messages = yield* readConversation(work)
    if (messages.length > 0) yield* save(work, messages, work.saved, context, { name: "", growing: false })
  },
  (saving, _, { delivery }) =>
    Effect.catch(saving, (failure) =>
      delivery < tries ? Effect.fail(failure) : Effect.logWarning(`what was said is not saved now: ${failure.message}`)
    )
)

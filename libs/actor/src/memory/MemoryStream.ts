/** One stream in memory: messages in order, each id once within the window for repeats, and the consumers that read it. */
import { encodeMeta } from "@reprise/protocol"
import { Effect } from "effect"
import { dueHeader, type Message, type StoredMessage } from "../broker/Broker.ts"

/** Subjects match token by token; `*` stands for any one token. */
export const matchesSubject = (pattern: string, subject: string): boolean => {
  const wanted = pattern.split(".")
  const tokens = subject.split(".")
  return wanted.length === tokens.length && wanted.every((token, n) => token === "*" || token === tokens[n])
}

export interface MemoryStream {
  /** Stores a message and gives its sequence; a message whose id was stored lately is not stored again. */
  readonly store: (message: Message) => number
  /** The messages after a sequence, oldest first. */
  readonly after: (sequence: number) => ReadonlyArray<StoredMessage>
  readonly at: (sequence: number) => StoredMessage | undefined
  readonly last: (subject: string) => StoredMessage | undefined
  /** Removes messages. Their places stay empty, so that sequences never change. */
  readonly purge: (pattern: string) => void
  readonly remove: (sequence: number) => void
  /** Called after each new message. */
  readonly onStored: (listener: () => void) => () => void
  readonly lastSequence: () => number
}

/** Where a message was removed. */
const emptyPlace = (sequence: number): StoredMessage => ({
  subject: "",
  sequence,
  header: () => "",
  body: Effect.succeed("")
})

/** As long as the real streams drop repeats (docs/design/protocol.md#subjects-and-streams). */
const idsKnownForMs = 10 * 60_000

export const makeMemoryStream = (nowMs: () => number): MemoryStream => {
  const messages: Array<StoredMessage> = []
  const ids = new Map<string, { readonly sequence: number; readonly atMs: number }>()
  const newest = new Map<string, StoredMessage>()
  const listeners = new Set<() => void>()
  return {
    store: ({ body, dueAt, meta, subject }) => {
      const known = ids.get(meta.id)
      const atMs = nowMs()
      if (known !== undefined && atMs - known.atMs < idsKnownForMs) return known.sequence
      const headers: Record<string, string> = encodeMeta(meta)
      if (dueAt !== undefined) headers[dueHeader] = dueAt
      const sequence = messages.length + 1
      const stored = { subject, sequence, header: (name: string) => headers[name] ?? "", body: Effect.succeed(body) }
      messages.push(stored)
      ids.set(meta.id, { sequence, atMs })
      newest.set(subject, stored)
      for (const listener of listeners) listener()
      return sequence
    },
    after: (sequence) => messages.slice(sequence),
    at: (sequence) => messages[sequence - 1],
    last: (subject) => newest.get(subject),
    purge: (pattern) => {
      for (const [index, { sequence, subject }] of messages.entries()) {
        if (!matchesSubject(pattern, subject)) continue
        messages[index] = emptyPlace(sequence)
        newest.delete(subject)
      }
    },
    remove: (sequence) => {
      const removed = messages[sequence - 1]
      if (removed === undefined || removed.subject === "") return
      messages[sequence - 1] = emptyPlace(sequence)
      if (newest.get(removed.subject) !== removed) return
      const before = messages.findLast(({ subject }) => subject === removed.subject)
      if (before === undefined) newest.delete(removed.subject)
      else newest.set(removed.subject, before)
    },
    onStored: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    lastSequence: () => messages.length
  }
}

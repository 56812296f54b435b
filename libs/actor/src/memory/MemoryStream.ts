/** One stream in memory: messages in order, each id once within the window for repeats, and the consumers that read it. */
import { encodeMeta } from "@reprise/protocol"
import { Effect } from "effect"
import { dueHeader, type Message, Sequence, type StoredMessage } from "../broker/Broker.ts"

/** Whether a subject matches one of the patterns: token by token, and `*` stands for any one token. */
export const subjectMatcher = (patterns: ReadonlyArray<string>): ((subject: string) => boolean) => {
  const wanted = patterns.map((pattern) => pattern.split("."))
  return (subject) => {
    const tokens = subject.split(".")
    return wanted.some(
      (pattern) => pattern.length === tokens.length && pattern.every((token, n) => token === "*" || token === tokens[n])
    )
  }
}

export interface MemoryStream {
  /** Stores a message and gives its sequence; a message whose id was stored lately is not stored again. */
  readonly store: (message: Message) => Sequence
  /** The messages after a sequence, oldest first. */
  readonly after: (sequence: number) => ReadonlyArray<StoredMessage>
  readonly at: (sequence: number) => StoredMessage | undefined
  /** The messages after a sequence whose subjects match, oldest first. */
  readonly matching: (pattern: string, after: number) => ReadonlyArray<StoredMessage>
  readonly last: (pattern: string) => StoredMessage | undefined
  /** Removes messages. Their places stay empty, so that sequences never change. */
  readonly purge: (pattern: string) => void
  readonly remove: (sequence: number) => void
  /** Called after each new message. */
  readonly onStored: (listener: (message: StoredMessage) => void) => () => void
  readonly lastSequence: () => number
}

/** Where a message was removed. */
const emptyPlace = (sequence: Sequence): StoredMessage => ({
  subject: "",
  sequence,
  header: () => "",
  body: Effect.succeed("")
})

/** As long as the real streams drop repeats (docs/design/protocol.md#subjects-and-streams). */
const idsKnownForMs = 10 * 60_000

export const makeMemoryStream = (nowMs: () => number): MemoryStream => {
  const messages: Array<StoredMessage> = []
  const ids = new Map<string, { readonly sequence: Sequence; readonly atMs: number }>()
  const bySubject = new Map<string, Array<StoredMessage>>()
  const listeners = new Set<(message: StoredMessage) => void>()
  return {
    store: ({ body, dueAt, meta, subject }) => {
      const known = ids.get(meta.id)
      const atMs = nowMs()
      if (known !== undefined && atMs - known.atMs < idsKnownForMs) return known.sequence
      const headers: Record<string, string> = encodeMeta(meta)
      if (dueAt !== undefined) headers[dueHeader] = dueAt
      const sequence = Sequence(messages.length + 1)
      const stored = { subject, sequence, header: (name: string) => headers[name] ?? "", body: Effect.succeed(body) }
      messages.push(stored)
      ids.set(meta.id, { sequence, atMs })
      const same = bySubject.get(subject)
      if (same === undefined) bySubject.set(subject, [stored])
      else same.push(stored)
      for (const listener of listeners) listener(stored)
      return sequence
    },
    after: (sequence) => messages.slice(sequence),
    at: (sequence) => messages[sequence - 1],
    matching: (pattern, after) => {
      if (!pattern.includes("*")) return bySubject.get(pattern)?.filter(({ sequence }) => sequence > after) ?? []
      const matches = subjectMatcher([pattern])
      return messages.slice(after).filter(({ subject }) => matches(subject))
    },
    last: (pattern) => {
      if (!pattern.includes("*")) return bySubject.get(pattern)?.at(-1)
      const matches = subjectMatcher([pattern])
      return messages.findLast(({ subject }) => matches(subject))
    },
    purge: (pattern) => {
      const matches = subjectMatcher([pattern])
      for (const [subject, found] of bySubject) {
        if (!matches(subject)) continue
        for (const { sequence } of found) messages[sequence - 1] = emptyPlace(sequence)
        bySubject.delete(subject)
      }
    },
    remove: (sequence) => {
      const removed = messages[sequence - 1]
      const same = removed === undefined ? undefined : bySubject.get(removed.subject)
      if (removed === undefined || same === undefined) return
      messages[sequence - 1] = emptyPlace(removed.sequence)
      same.splice(same.indexOf(removed), 1)
    },
    onStored: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    lastSequence: () => messages.length
  }
}

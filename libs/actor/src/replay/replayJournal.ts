/**
 * Runs a stored journal through today's code: can it still be read, and would the same be sent and shown? What an actor
 * decided is taken from the journal, never decided again.
 */
import { Result } from "effect"
import type { Actor, Tagged } from "../Actor.ts"
import { PoisonMessage } from "../DeadLetter.ts"
import { eventsReader, type JournalEntry, readEntry } from "../JournalEntry.ts"
import { journalled, type Sender } from "../runtime/outbox.ts"
import { changeText, firstChange } from "./firstChange.ts"

/** A journal message: its place in the stream, and its body as JSON text. */
export interface StoredEntry {
  readonly sequence: number
  readonly body: string
}

/** The read model that was stored after the entry at `sequence`. */
export interface ViewAfter {
  readonly sequence: number
  readonly view: unknown
}

/** The first entry at which today's code does not do what was done. */
export interface ReplayDifference {
  /** `unreadable`: the actor cannot be loaded. `sent`, `shown`: it can, but it sends or shows something else. */
  readonly kind: "unreadable" | "sent" | "shown"
  readonly sequence: number
  /** When it was decided, ISO 8601; absent: the entry cannot be read. */
  readonly at?: string
  /** The type of the input that was decided. */
  readonly input?: string
  readonly detail: string
}

export interface Replayed {
  readonly entries: number
  /** Absent: today's code does all that was done. */
  readonly difference?: ReplayDifference
}

const asJson = (value: unknown): unknown => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)))

const shownDifference = (stored: unknown, now: unknown): string | undefined => {
  const change = firstChange(stored, asJson(now))
  return change === undefined ? undefined : changeText(change)
}

/** How what would be sent differs from what was; undefined: not at all. */
const sentDifference = (stored: JournalEntry["outgoing"], now: unknown): string | undefined => {
  const change = firstChange(stored, now)
  if (change === undefined) return undefined
  const [index, ...path] = change.path
  const message = stored[Number(index)]
  return message === undefined
    ? `the number of messages: ${changeText(change)}`
    : `${message.type} to ${message.subject}: ${changeText({ ...change, path })}`
}

/** What `look` finds; that it throws is a finding, too. */
const attempt = (
  kind: ReplayDifference["kind"],
  look: () => string | undefined
): Pick<ReplayDifference, "kind" | "detail"> | undefined => {
  try {
    const detail = look()
    return detail === undefined ? undefined : { kind, detail }
  } catch (cause) {
    return { kind, detail: PoisonMessage.thrownBy("It", cause).reason }
  }
}

/**
 * Replays one actor's whole journal, oldest entry first. `view`: what is stored as its read model. Gives the first
 * difference, or the entry that cannot be read: nothing can be said of what follows it. Never throws.
 */
export const replayJournal = <State, Input extends Tagged, Event extends Tagged>(
  actor: Actor<State, Input, Event, Tagged>,
  sender: Sender,
  stored: ReadonlyArray<StoredEntry>,
  view?: ViewAfter
): Replayed => {
  const readEvents = eventsReader(actor.journal)
  const entries = stored.length
  let state = actor.initial
  let first: ReplayDifference | undefined
  for (const { body, sequence } of stored) {
    const read = readEntry(body)
    if (Result.isFailure(read)) {
      return { entries, difference: { kind: "unreadable", sequence, detail: read.failure.message } }
    }
    const { at, input, events: written, outgoing } = read.success
    let events: ReadonlyArray<Event> = []
    const found =
      attempt("unreadable", () => {
        const read = readEvents(written)
        if (Result.isFailure(read)) return read.failure.message
        events = read.success
        state = events.reduce(actor.evolve, state)
        return undefined
      }) ??
      attempt("sent", () => {
        const delivery = { id: input.id, key: sender.key, now: at }
        const sent = actor.react(state, events, delivery).map((one) => journalled(sender, actor.runOf(state), one))
        return sentDifference(outgoing, asJson(sent))
      }) ??
      attempt("shown", () =>
        view?.sequence === sequence ? shownDifference(view.view, actor.view?.(state)) : undefined
      )
    const difference = found === undefined ? undefined : { ...found, sequence, at, input: input.type }
    if (difference?.kind === "unreadable") return { entries, difference }
    first ??= difference
  }
  return first === undefined ? { entries } : { entries, difference: first }
}

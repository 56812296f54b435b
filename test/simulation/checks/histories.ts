/** The journals of a story, read as the actor runtime reads them, and what they lead to. */
import { type Actor, type JournalEntry, readEntry, type Tagged } from "@reprise/actor"
import { contracts } from "@reprise/protocol"
import { Effect, Result, Schema } from "effect"
import { prefix } from "../parts/services.ts"
import type { Evidence } from "./Check.ts"

/** One entry with the state that it led to. */
interface Step<State, Event> {
  readonly entry: JournalEntry
  readonly sequence: number
  readonly events: ReadonlyArray<Event>
  readonly state: State
}

export interface History<State, Event> {
  readonly key: string
  readonly steps: ReadonlyArray<Step<State, Event>>
  readonly state: State
  readonly view: unknown
}

/** A decoder is compiled once for each kind of actor. */
const decoders = new WeakMap<object, (events: unknown) => ReadonlyArray<unknown>>()
const decoderOf = <Event extends Tagged>(journal: Schema.Codec<Event, unknown>) => {
  const known = decoders.get(journal) ?? Schema.decodeUnknownSync(Schema.Array(journal))
  decoders.set(journal, known)
  return known as (events: unknown) => ReadonlyArray<Event>
}

const readHistories = <State, Input extends Tagged, Event extends Tagged, Work extends Tagged>(
  story: Evidence,
  actor: Actor<State, Input, Event, Work>
): ReadonlyMap<string, History<State, Event>> => {
  const name = contracts[actor.service].actor
  const stored = story.read((broker) =>
    Effect.flatMap(broker.read("journal", `${prefix}.journal.${name}.*`, 0), (found) =>
      Effect.forEach(found, ({ body, sequence, subject }) => Effect.map(body, (text) => ({ sequence, subject, text })))
    )
  )
  const decode = decoderOf(actor.journal)
  const histories = new Map<string, { key: string; steps: Array<Step<State, Event>>; state: State; view: unknown }>()
  for (const { sequence, subject, text } of stored) {
    const key = subject.split(".").at(-1) ?? ""
    const entry = Result.getOrThrow(readEntry(text))
    const events = decode(entry.events)
    const history = histories.get(key) ?? { key, steps: [], state: actor.initial, view: undefined }
    history.state = events.reduce(actor.evolve, history.state)
    history.steps.push({ entry, sequence, events, state: history.state })
    histories.set(key, history)
  }
  for (const history of histories.values()) history.view = actor.view?.(history.state)
  return histories
}

export const historiesOf = (story: Evidence) => {
  const { gate, orchestrator, reviewer, sessionManager, workspace } = story.actors
  return {
    orchestrator: readHistories(story, orchestrator),
    gate: readHistories(story, gate),
    reviewer: readHistories(story, reviewer),
    "session-manager": readHistories(story, sessionManager),
    workspace: readHistories(story, workspace)
  }
}
export type Histories = ReturnType<typeof historiesOf>
export type RunHistory = Histories["orchestrator"] extends ReadonlyMap<string, infer One> ? One : never

/** Whether a session of this status can do nothing more. */
export const hasEnded = (status: string): boolean => ["expired", "completed", "aborted", "failed"].includes(status)

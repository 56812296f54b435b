/**
 * What became of an input that the receipts do not know: it may have been refused by another process, or decided so long
 * ago that its receipt is forgotten. Only messages that may be repeats are looked up, and each answer is read once.
 */

import { Effect } from "effect"
import type { Tagged } from "../Actor.ts"
import type { BrokerShape, StreamKind } from "../broker/Broker.ts"
import type { LoadedActor } from "./ActorMemory.ts"
import { type ActorRuntime, journalSubject } from "./ActorRuntime.ts"
import { type RefusedInput, refusalSubjects } from "./refusals.ts"

/** The answers of one subject by the input that they answer, as far as they were read. */
interface Answers {
  readTo: number
  readonly sequences: Map<string, number>
}

/** By subject; an actor in memory keeps what was read for it. */
export type EarlierAnswers = Map<string, Answers>

/** Where the input was answered on this subject. The headers say it, so no body is read. */
const sequenceOn = Effect.fnUntraced(function* (
  broker: BrokerShape,
  stream: StreamKind,
  subject: string,
  inputId: string,
  earlier: EarlierAnswers
) {
  const answers = earlier.get(subject) ?? { readTo: 0, sequences: new Map<string, number>() }
  earlier.set(subject, answers)
  for (const { header, sequence } of yield* broker.read(stream, subject, answers.readTo)) {
    answers.readTo = sequence
    answers.sequences.set(header("reprise-causation"), sequence)
  }
  return answers.sequences.get(inputId)
})

/** As a receipt: the journal sequence of the decision, 0 for a refusal; undefined: the input was not answered. */
export const earlierAnswer = Effect.fnUntraced(function* <State, Input extends Tagged, Event extends Tagged>(
  runtime: ActorRuntime<State, Input, Event>,
  refused: RefusedInput,
  { earlier, receipts, state }: LoadedActor<State>
) {
  const { broker } = runtime
  const { key, meta } = refused
  for (const subject of refusalSubjects(runtime, refused, state)) {
    if ((yield* sequenceOn(broker, "events", subject, meta.id, earlier)) !== undefined) return 0
  }
  // All that was decided has a receipt until one is forgotten.
  if (!receipts.isFull()) return undefined
  return yield* sequenceOn(broker, "journal", journalSubject(runtime, key), meta.id, earlier)
})

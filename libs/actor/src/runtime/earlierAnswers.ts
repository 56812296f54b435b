/**
 * What became of an input that the receipts do not know: it may have been refused by another process, or decided so long
 * ago that its receipt is forgotten. Only messages that may be repeats are looked up.
 */

import { Effect } from "effect"
import type { Tagged } from "../Actor.ts"
import type { LoadedActor } from "./ActorMemory.ts"
import { type ActorRuntime, journalSubject } from "./ActorRuntime.ts"
import { readSubject } from "./readSubjects.ts"
import { type RefusedInput, refusalSubjects } from "./refusals.ts"

/** As a receipt: the journal sequence of the decision, 0 for a refusal; undefined: the input was not answered. */
export const earlierAnswer = Effect.fnUntraced(function* <State, Input extends Tagged, Event extends Tagged>(
  runtime: ActorRuntime<State, Input, Event>,
  refused: RefusedInput,
  { earlier, receipts, state }: LoadedActor<State>
) {
  const { broker } = runtime
  const { key, meta } = refused
  for (const subject of refusalSubjects(runtime, refused, state)) {
    if ((yield* readSubject(broker, "events", subject, "reprise-causation", earlier)).has(meta.id)) return 0
  }
  // All that was decided has a receipt until one is forgotten.
  if (!receipts.isFull()) return undefined
  const decided = yield* readSubject(broker, "journal", journalSubject(runtime, key), "reprise-causation", earlier)
  return decided.get(meta.id)
})

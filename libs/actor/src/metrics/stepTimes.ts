/**
 * How long steps take, by the journal: an entry that publishes the begin or the end of a step has its time. So it makes no
 * difference which process decided the begin, nor how long ago.
 */
import { PublicEvent, Step } from "@reprise/protocol"
import { Option, Schema } from "effect"
import type { JournalEntry } from "../JournalEntry.ts"
import { type Sample, sample } from "./metrics.ts"

/** A step that has begun and not ended. */
export const StepBegun = Schema.Struct({
  name: Step,
  /** ISO 8601. */
  since: Schema.String
})
export type StepBegun = typeof StepBegun.Type

const { StepStarted } = PublicEvent.cases
const decodeName = Schema.decodeUnknownOption(Schema.Struct({ step: StepStarted.fields.step }))

const endsStep = new Set<string>(["StepStarted", "PhaseCompleted", "RunCompleted", "RunFailed", "RunAborted"])

const secondsOf = ({ since }: StepBegun, at: string): number =>
  // A clock may have been set back.
  Math.max(0, Date.parse(at) - Date.parse(since)) / 1_000

/** The step that an actor is in after an entry of its journal, and the lengths of the steps that ended with it. */
export const stepAfter = (
  before: StepBegun | undefined,
  { at, outgoing }: Pick<JournalEntry, "at" | "outgoing">
): { readonly step: StepBegun | undefined; readonly ended: ReadonlyArray<Sample> } => {
  const ended: Array<Sample> = []
  let step = before
  for (const { payload, type } of outgoing) {
    if (!endsStep.has(type)) continue
    if (step !== undefined) ended.push(sample("reprise_step_seconds", { step: step.name }, secondsOf(step, at)))
    const begun = type === "StepStarted" ? Option.getOrUndefined(decodeName(payload)) : undefined
    step = begun === undefined ? undefined : { name: begun.step, since: at }
  }
  return { step, ended }
}

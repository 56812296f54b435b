/** What an Escalation actor takes: its public commands, and its own timer. */
import { EscalationCommand, EscalationId } from "@reprise/protocol"
import { Schema } from "effect"

const EscalationTimer = Schema.TaggedUnion({
  /** It is time to remind a human of the question. `count`: which reminder this is, from 1. */
  Remind: { escalationId: EscalationId, count: Schema.Int }
})

export const EscalationInput = Schema.Union([EscalationCommand, EscalationTimer])
export type EscalationInput = typeof EscalationInput.Type
export type InputOf<Tag extends EscalationInput["_tag"]> = Extract<EscalationInput, { readonly _tag: Tag }>

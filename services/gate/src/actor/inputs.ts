/** What an Escalation actor takes: its public commands, its own timer, and the reports of its worker. */
import { addressing, EscalationCommand, EscalationId } from "@reprise/protocol"
import { Schema } from "effect"

const EscalationTimer = Schema.TaggedUnion({
  /** It is time to remind a human of the question. `count`: which reminder this is, from 1. */
  Remind: { escalationId: EscalationId, count: Schema.Int }
})

/** The worker's private command. */
const NotificationReport = Schema.TaggedUnion({
  /** A channel has the question, or may have it. */
  ChannelTold: { escalationId: EscalationId, channel: Schema.String }
})

/** How the worker addresses its reports. */
export const toEscalationActor = addressing<EscalationId>()({
  service: "gate",
  keyField: "escalationId",
  commands: NotificationReport
})

export const EscalationInput = Schema.Union([EscalationCommand, EscalationTimer, NotificationReport])
export type EscalationInput = typeof EscalationInput.Type
export type InputOf<Tag extends EscalationInput["_tag"]> = Extract<EscalationInput, { readonly _tag: Tag }>

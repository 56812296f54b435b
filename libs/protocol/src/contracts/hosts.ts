/** The hosts that do a service's work, as its workers answer for them (docs/design/protocol.md#subjects-and-streams). */
import { Schema } from "effect"
import { Host } from "../ids.ts"

/** The runs that a host may have at work at a time, and those that it has. */
export const HostSlots = Schema.Struct({ used: Schema.Int, all: Schema.Int })
export type HostSlots = typeof HostSlots.Type

/** What a worker answers who asks whether it is there, if its host has a limit; otherwise nothing. */
export const HostPresence = Schema.Struct({ slots: HostSlots })

/** Every host that ever did the service's work, under the name that it has. */
export const HostView = Schema.Struct({
  host: Host,
  /** Whether its worker is there. Absent: nobody could tell. */
  answers: Schema.optionalKey(Schema.Boolean),
  /** When it stopped taking new runs and sessions, ISO 8601. Absent: it takes them. */
  drainedAt: Schema.optionalKey(Schema.String),
  /** Absent: it takes any number of runs, or does not answer. */
  slots: Schema.optionalKey(HostSlots)
})
export type HostView = typeof HostView.Type

/** Asks a host to take no new runs and sessions, or to take them again; answered with its `HostView` once that is stored. */
export const DrainHost = Schema.Struct({ drained: Schema.Boolean })

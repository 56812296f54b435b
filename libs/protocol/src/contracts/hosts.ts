/** The hosts that do a service's work, as its workers answer for them (docs/design/protocol.md#subjects-and-streams). */
import { Schema } from "effect"
import { Host } from "../ids.ts"

/** Every host that ever did the service's work, under the name that it has. */
export const HostView = Schema.Struct({
  host: Host,
  /** Whether its worker is there. Absent: nobody could tell. */
  answers: Schema.optionalKey(Schema.Boolean),
  /** Since when it takes no new runs and sessions, ISO 8601. Absent: it takes them. */
  drainedAt: Schema.optionalKey(Schema.String)
})
export type HostView = typeof HostView.Type

/** Asks a host to take no new runs and sessions, or to take them again; answered with its `HostView` once that is stored. */
export const DrainHost = Schema.Struct({ drained: Schema.Boolean })

/** An input that cannot be handled, now or later: it is set aside in the dead letters, with this reason. */
import { Schema } from "effect"

export class Poison extends Schema.TaggedError<Poison>()("Poison", {
  reason: Schema.String
}) {
  override get message() {
    return this.reason
  }
}

export const thrown = (operation: string, cause: unknown): Poison =>
  new Poison({
    reason: `${operation} threw: ${cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)}`
  })

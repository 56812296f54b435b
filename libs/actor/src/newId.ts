import { Context } from "effect"

/** Makes ids that nobody else makes. A service, so that a simulation can say which; nothing else here is random. */
export const NewId = Context.Reference<() => string>("@reprise/actor/NewId", {
  defaultValue: () => () => crypto.randomUUID()
})

/** Who sent the request that is being answered. */
import { Context } from "effect"
import type { Visitor } from "../../console/visitor.ts"

/** Undefined where no session is needed, as for a link that answers. */
export const Visiting = Context.Reference<Visitor | undefined>("@reprise/gate/Visiting", {
  defaultValue: () => undefined
})

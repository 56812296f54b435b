/** Why a working tree must not be used for a run: a decision, not a failure. */
import { Effect } from "effect"
import type { WorkspaceFact } from "../../actor/inputs.ts"

type RefusalKind = Extract<WorkspaceFact, { readonly _tag: "WorkspaceRefused" }>["kind"]

/** Ends preparing with `WorkspaceRefused`. */
export class Refused {
  readonly _tag = "Refused"
  readonly kind: RefusalKind
  readonly reason: string
  constructor(kind: RefusalKind, reason: string) {
    this.kind = kind
    this.reason = reason
  }
}

export const refuse = (kind: RefusalKind, reason: string) => Effect.fail(new Refused(kind, reason))

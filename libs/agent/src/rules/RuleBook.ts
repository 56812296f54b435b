/** Where a runtime looks up rules, and writes what a human allowed for good. */
import { Effect } from "effect"
import { noRules, type PermissionRules, type RememberedRule } from "./PermissionRules.ts"

export interface RuleBook {
  /** The rules as they are now. */
  readonly rules: Effect.Effect<PermissionRules>
  /** Writes rules. One that cannot be written is logged: it then holds for this request only. */
  readonly remember: (rules: ReadonlyArray<RememberedRule>) => Effect.Effect<void>
}

/** Without any rule; what is written is kept as long as the process runs. */
export const rulesInMemory = (rules: PermissionRules = noRules): RuleBook => {
  const remembered = [...rules.remembered]
  return {
    rules: Effect.sync(() => ({ ...rules, remembered: [...remembered] })),
    remember: (added) => Effect.sync(() => void remembered.push(...added))
  }
}

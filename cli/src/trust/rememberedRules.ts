/** What a human allowed for good at the gate, for all runs in one clone. */
import { createHash } from "node:crypto"
import { RememberedRule } from "@reprise/agent"
import { Schema } from "effect"
import { cloneFile } from "../project/cloneFile.ts"

const StoredRule = Schema.Struct({ ...RememberedRule.fields, since: Schema.String })
export type StoredRule = typeof StoredRule.Type

/** Identifies a rule by what it says, in a few letters. */
export const ruleId = ({ kind, what }: RememberedRule): string =>
  createHash("sha256")
    .update(JSON.stringify([kind, what]))
    .digest("hex")
    .slice(0, 8)

export const rememberedRules = cloneFile({
  folder: "permissions",
  entry: StoredRule,
  nothing: "No rule is remembered here"
})

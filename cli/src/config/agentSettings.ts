/** The rows of the settings table for agents by role (docs/agents.md#by-role-and-rule). */
import { type AgentRule, defaultRunOptions } from "@reprise/protocol"
import { Schema } from "effect"
import { runtimeName } from "./runtimeName.ts"
import { setting, text, unset } from "./settingRows.ts"

const positive = Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))
const between = Schema.Finite.check(Schema.isGreaterThan(0), Schema.isLessThan(1))

/** As in the protocol, with values that make sense. */
const Rule = Schema.Struct({
  fromReview: Schema.optionalKey(positive),
  afterRetries: Schema.optionalKey(positive),
  contextOver: Schema.optionalKey(between),
  runtime: Schema.optionalKey(runtimeName),
  model: Schema.optionalKey(text),
  variant: Schema.optionalKey(text)
} satisfies Record<keyof typeof AgentRule.fields, unknown>)

const rules = Schema.Array(Rule)

const variantMeaning =
  "as its runtime names it, often the amount of thinking: OpenCode's variant, Claude's effort (low, medium, high, xhigh, max)"

/** A file may have these settings of the author and the reviewer in their sections, too. */
export const otherNames = {
  "author.runtime": "runtime",
  "author.model": "model",
  "reviewer.runtime": "reviewerRuntime",
  "reviewer.model": "reviewerModel"
} as const

export const agentSettings = {
  author: {
    variant: unset(
      text,
      "high",
      `Variant of the author's model, ${variantMeaning}. Its runtime and model are the settings runtime and model, which can be written in [author] too.`
    ),
    rules: setting(
      rules,
      defaultRunOptions.author.rules,
      "Rules that change the author. Conditions: afterRetries (that many failed retries in the phase), contextOver (its session's context is fuller than this, from 0 to 1), fromReview (after that many reviews); all that a rule names must hold. Then its runtime, model and variant. The last rule that applies decides, until the phase ends."
    )
  },
  reviewer: {
    variant: unset(
      text,
      "high",
      `Variant of the reviewer's model, ${variantMeaning}. Its runtime and model are reviewerRuntime and reviewerModel, which are runtime and model in [reviewer].`
    ),
    rules: setting(
      rules,
      defaultRunOptions.reviewer.rules,
      "Rules that change the reviewer, as for the author: fromReview (from this review of the phase on), contextOver."
    )
  },
  fixer: {
    runtime: unset(
      runtimeName,
      "opencode",
      "Agent runtime that fixes failed quality gates and review findings; nothing set in [fixer]: the author does it, in its session."
    ),
    model: unset(text, "openai/gpt-5", "Model of the fixer; unset: the author's, or the default of another runtime."),
    variant: unset(text, "high", `Variant of the fixer's model, ${variantMeaning}.`),
    rules: setting(rules, defaultRunOptions.fixer.rules, "Rules that change the fixer, as for the author.")
  }
} as const

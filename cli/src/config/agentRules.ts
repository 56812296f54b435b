/** What is wrong with agents by role and their rules, as far as the settings alone show it. Pure. */
import { efforts } from "@reprise/agent/efforts"
import { plannedAgents } from "@reprise/orchestrator/agents"
import type { AgentRole, AgentRule, StepAgent } from "@reprise/protocol"
import { quoted } from "./quoted.ts"
import { agentOptions } from "./serviceOptions.ts"
import type { SettingPath, Settings } from "./settingsTable.ts"

export interface AgentProblem {
  readonly path: SettingPath
  /** Follows the place of the setting. */
  readonly message: string
  readonly hint: string
}

const names = ["fromReview", "afterRetries", "contextOver"] as const
type Condition = (typeof names)[number]

const conditionsOf = (rule: AgentRule): ReadonlyArray<Condition> => names.filter((name) => rule[name] !== undefined)

/** Whether `other` applies wherever `rule` does. */
const covers = (other: AgentRule, rule: AgentRule): boolean =>
  conditionsOf(other).every((name) => (rule[name] ?? Number.NEGATIVE_INFINITY) >= (other[name] ?? 0))

/** Why a rule of the role never applies, or never decides; undefined: it can. */
const neverApplies = (
  role: AgentRole,
  rule: AgentRule,
  later: ReadonlyArray<AgentRule>,
  { limits }: Pick<Settings, "limits">
): string | undefined => {
  const { afterRetries, fromReview } = rule
  const { maxAutoRetries, maxQualityRetries, maxReviewIterations } = limits
  if (role === "reviewer" && afterRetries !== undefined) {
    return "only the author and the fixer retry; a review does not"
  }
  if (fromReview !== undefined && fromReview > maxReviewIterations) {
    return `limits.maxReviewIterations is ${maxReviewIterations}`
  }
  if (afterRetries !== undefined && afterRetries > maxQualityRetries + maxAutoRetries) {
    return `limits.maxQualityRetries is ${maxQualityRetries} and limits.maxAutoRetries is ${maxAutoRetries}`
  }
  return later.some((other) => covers(other, rule))
    ? "a rule after it applies whenever it does, and the last that applies decides"
    : undefined
}

const ruleMeaning =
  'A rule has conditions (fromReview, afterRetries, contextOver) and an agent (runtime, model, variant), such as { fromReview = 3, model = "openai/gpt-5" }.'

const ruleProblem = (role: AgentRole, settings: Settings): AgentProblem | undefined => {
  const path = `${role}.rules` as const
  const { rules } = settings[role]
  for (const [index, rule] of rules.entries()) {
    const wrong = (message: string, hint = ruleMeaning) => ({
      path,
      message: `is not valid: rule ${index + 1} ${message}.`,
      hint
    })
    if (conditionsOf(rule).length === 0) {
      return wrong("has no condition", `Write what always applies in [${role}] itself. ${ruleMeaning}`)
    }
    if (rule.runtime === undefined && rule.model === undefined && rule.variant === undefined) {
      return wrong("names no runtime, model or variant")
    }
    if (role === "reviewer" && conditionsOf(rule).every((name) => name === "fromReview") && rule.fromReview === 1) {
      return wrong("holds for every review", "Write what always applies in [reviewer] itself.")
    }
    const why = neverApplies(role, rule, rules.slice(index + 1), settings)
    if (why !== undefined)
      return wrong(`can never apply: ${why}`, "Change the rule or the limit, or leave the rule out.")
  }
  return undefined
}

/** Where the model, or the variant, of an agent is written. */
const pathOf = ({ role, rule }: StepAgent, what: "model" | "variant"): SettingPath => {
  if (rule !== undefined) return `${role}.rules`
  if (what === "variant" || role === "fixer") return `${role}.${what}` as SettingPath
  return role === "author" ? "model" : "reviewerModel"
}

const inRule = ({ rule }: StepAgent): string => (rule === undefined ? "" : ` in rule ${rule.number}`)

/** OpenCode finds a model by its provider; for a name without one it would silently use its default model. */
const modelProblem = (agent: StepAgent): AgentProblem | undefined => {
  const { model, runtime } = agent
  if (runtime !== "opencode" || model === undefined || /^[^/]+\/./.test(model)) return undefined
  return {
    path: pathOf(agent, "model"),
    message: `is not valid: Expected provider/model, got ${quoted(model)}${inRule(agent)}.`,
    hint: "'opencode models' lists the models that OpenCode knows."
  }
}

/** Claude silently ignores other words. */
const variantProblem = (agent: StepAgent): AgentProblem | undefined => {
  const { runtime, variant } = agent
  if (runtime !== "claude" || variant === undefined || efforts.some((effort) => effort === variant)) return undefined
  return {
    path: pathOf(agent, "variant"),
    message: `is not valid: Claude has no variant ${quoted(variant)}${inRule(agent)}.`,
    hint: `Claude's variants are its efforts: ${efforts.join(", ")}.`
  }
}

/** The first mistake; undefined: there is none. */
export const agentProblem = (settings: Settings): AgentProblem | undefined => {
  for (const role of ["author", "reviewer", "fixer"] as const) {
    const wrong = ruleProblem(role, settings)
    if (wrong !== undefined) return wrong
  }
  for (const agent of plannedAgents(agentOptions(settings))) {
    const wrong = modelProblem(agent) ?? variantProblem(agent)
    if (wrong !== undefined) return wrong
  }
  return undefined
}

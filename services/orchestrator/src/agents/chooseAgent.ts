/**
 * Who does a role, by its rules and by how a phase stands (docs/decisions/0043-agents-by-role-and-rule.md). Knows nothing
 * of runs.
 */
import { type AgentChoice, type AgentRule, conditionsText, defined, type StepAgent } from "@reprise/protocol"

/** How a phase stands for a role when a step begins. */
export interface Situation {
  /** The review that begins; for the author and the fixer, how many there were. */
  readonly review: number
  readonly failedRetries: number
  /** Of the session in which the role would go on, from 0 to 1; undefined: there is none, or nothing was measured. */
  readonly contextFill?: number | undefined
}

const applies = (
  { afterRetries = 0, contextOver, fromReview = 0 }: AgentRule,
  { contextFill, failedRetries, review }: Situation
): boolean =>
  review >= fromReview &&
  failedRetries >= afterRetries &&
  (contextOver === undefined || (contextFill !== undefined && contextFill > contextOver))

/**
 * The place of the rule that decides, from 1; 0: none does. The last rule that applies decides. `held`: one that has
 * applied in the phase still does, so that a role does not go back and forth.
 */
const decidingRule = (rules: ReadonlyArray<AgentRule>, situation: Situation | undefined, held: number): number =>
  Math.max(held, situation === undefined ? 0 : rules.findLastIndex((rule) => applies(rule, situation)) + 1)

/** The agent with what is named in place of its own. A model, and a variant, are of one runtime, and a variant of one model. */
export const withNamed = (usual: AgentChoice, named: Partial<AgentChoice>): AgentChoice => {
  const runtime = named.runtime ?? usual.runtime
  const isSame = runtime === usual.runtime
  const model = named.model ?? (isSame ? usual.model : undefined)
  const variant = named.variant ?? (isSame && named.model === undefined ? usual.variant : undefined)
  return {
    runtime,
    ...defined({ model, variant })
  }
}

/** `situation` absent: only rules that have applied before are looked at. `held`: the place of the last of these, from 1. */
export const chooseAgent = (
  usual: AgentChoice,
  rules: ReadonlyArray<AgentRule>,
  situation: Situation | undefined,
  held = 0
): Omit<StepAgent, "role"> => {
  const number = decidingRule(rules, situation, held)
  const rule = rules[number - 1]
  return rule === undefined ? usual : { ...withNamed(usual, rule), rule: { number, when: conditionsText(rule) } }
}

/**
 * Which agent does the work of a role: its runtime, its model, and the model's variant; and the rules that change it with
 * the progress of a phase (docs/decisions/0043-agents-by-role-and-rule.md).
 */
import { Effect, Schema } from "effect"
import { RuntimeName } from "./model.ts"

/** An agent as it is chosen: its runtime; its model, unless the runtime chooses; and how much that is to think. */
export const AgentChoice = Schema.Struct({
  runtime: RuntimeName,
  /** As the runtime names it: `provider/model` for OpenCode. */
  model: Schema.optionalKey(Schema.String),
  /** A variant of the model, as the runtime names it: OpenCode's variant, Claude's effort. Absent: the runtime's default. */
  variant: Schema.optionalKey(Schema.String)
})
export type AgentChoice = typeof AgentChoice.Type

/** For people: `claude, model opus, variant high`, without what is not named. */
export const agentText = ({ model, runtime, variant }: Partial<AgentChoice>): string =>
  [
    ...(runtime === undefined ? [] : [runtime]),
    ...(model === undefined ? [] : [`model ${model}`]),
    ...(variant === undefined ? [] : [`variant ${variant}`])
  ].join(", ")

export const sameAgent = (a: AgentChoice, b: AgentChoice): boolean =>
  a.runtime === b.runtime && a.model === b.model && a.variant === b.variant

/** The author does the work of a phase, the reviewer judges it, and the fixer fixes what gates and reviews found. */
export const AgentRole = Schema.Literals(["author", "reviewer", "fixer"])
export type AgentRole = typeof AgentRole.Type

/** Parts of an agent that is otherwise another one. */
const named = {
  runtime: Schema.optionalKey(RuntimeName),
  model: Schema.optionalKey(Schema.String),
  variant: Schema.optionalKey(Schema.String)
} as const

/** When a rule applies: all of its conditions hold. What it does not name has no condition. */
export const RuleConditions = Schema.Struct({
  /** From this review of the phase on. For the author and the fixer: after so many reviews. */
  fromReview: Schema.optionalKey(Schema.Int),
  /** After so many failed retries in the phase: of its quality gates, or in auto mode. */
  afterRetries: Schema.optionalKey(Schema.Int),
  /** When the context of the role's session is fuller than this part of the model's window, from 0 to 1. */
  contextOver: Schema.optionalKey(Schema.Finite)
})
export type RuleConditions = typeof RuleConditions.Type

/**
 * Who does the role once the conditions hold. What it does not name is the role's own; without a model of its own a rule
 * with another runtime has the default of that.
 */
export const AgentRule = Schema.Struct({ ...RuleConditions.fields, ...named })
export type AgentRule = typeof AgentRule.Type

const rules = Schema.Array(AgentRule).pipe(Schema.withDecodingDefaultKey(Effect.succeed([])))

/** The author's and the reviewer's runtime and model are older fields of `RunOptions`. */
export const RoleOptions = Schema.Struct({ variant: named.variant, rules })
export type RoleOptions = typeof RoleOptions.Type

/** A fixer for which nothing is set is the author. */
export const FixerOptions = Schema.Struct({ ...named, rules })
export type FixerOptions = typeof FixerOptions.Type

const percent = (part: number): string => `${Math.round(part * 1000) / 10} %`

/** For people: `from review 3 on`, or several conditions with `and`. */
export const conditionsText = ({ afterRetries, contextOver, fromReview }: RuleConditions): string =>
  [
    ...(fromReview === undefined ? [] : [`from review ${fromReview} on`]),
    ...(afterRetries === undefined
      ? []
      : [`after ${afterRetries === 1 ? "1 failed retry" : `${afterRetries} failed retries`}`]),
    ...(contextOver === undefined ? [] : [`when the context is over ${percent(contextOver)} full`])
  ].join(" and ")

/** The agent of a step, and what it follows from. Without `rule` and `by` it is the role's own. */
export const StepAgent = Schema.Struct({
  role: AgentRole,
  ...AgentChoice.fields,
  /** The rule of the role that holds: its place among the rules, from 1, and its conditions in words. */
  rule: Schema.optionalKey(Schema.Struct({ number: Schema.Int, when: Schema.String })),
  /** Who chose it at the gate. */
  by: Schema.optionalKey(Schema.String)
})
export type StepAgent = typeof StepAgent.Type

/** For people: `the reviewer is claude, model opus (from review 3 on)`. */
export const stepAgentText = ({ by, role, rule, ...agent }: StepAgent): string => {
  const why = by === undefined ? rule?.when : `chosen by ${by}`
  return `the ${role} is ${agentText(agent)}${why === undefined ? "" : ` (${why})`}`
}

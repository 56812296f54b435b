/** Which agents a run is started with, by role, and which ones its rules can lead to. */
import {
  type AgentChoice,
  type AgentRole,
  conditionsText,
  defined,
  type RunOptions,
  type StepAgent
} from "@reprise/protocol"
import { withNamed } from "./chooseAgent.ts"

/** What the agents follow from. */
type Options = Pick<
  RunOptions,
  "runtime" | "model" | "reviewerRuntime" | "reviewerModel" | "author" | "reviewer" | "fixer"
>

/** Models that a human has changed since the run was started. */
type Models = { readonly [role in AgentRole]?: string }

/** Without a setting of its own the fixer is the author. */
export const hasFixer = ({ fixer: { model, rules, runtime, variant } }: Options): boolean =>
  rules.length > 0 || runtime !== undefined || model !== undefined || variant !== undefined

const named = (
  runtime: AgentChoice["runtime"] | undefined,
  model: string | undefined,
  variant: string | undefined
): Partial<AgentChoice> => defined({ runtime, model, variant })

/** Who does a role by no rule. Reviewer and fixer have what they do not name from the author. */
export const usualAgent = (options: Options, role: AgentRole, models: Models = {}): AgentChoice => {
  const changed = models[role]
  const started = startedAgent(options, role, models)
  return changed === undefined ? started : withNamed(started, { model: changed })
}

const startedAgent = (options: Options, role: AgentRole, models: Models): AgentChoice => {
  const { author, fixer, model, reviewer, reviewerModel, reviewerRuntime, runtime } = options
  switch (role) {
    case "author":
      return { runtime, ...named(undefined, model, author.variant) }
    case "reviewer":
      return withNamed(usualAgent(options, "author", models), named(reviewerRuntime, reviewerModel, reviewer.variant))
    case "fixer":
      return withNamed(usualAgent(options, "author", models), named(fixer.runtime, fixer.model, fixer.variant))
  }
}

/** Each role's own agent, and those of its rules, in their order. No fixer where nothing is set for it. */
export const plannedAgents = (options: Options): ReadonlyArray<StepAgent> => {
  const roles: ReadonlyArray<AgentRole> = hasFixer(options) ? ["author", "reviewer", "fixer"] : ["author", "reviewer"]
  return roles.flatMap((role) => {
    const usual = usualAgent(options, role)
    return [
      { role, ...usual },
      ...options[role].rules.map((rule, index) => ({
        role,
        ...withNamed(usual, rule),
        rule: { number: index + 1, when: conditionsText(rule) }
      }))
    ]
  })
}

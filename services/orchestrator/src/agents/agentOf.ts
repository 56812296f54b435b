/**
 * Which agents a run has: as it was started, as its rules say by the progress of the phase, as a human has changed a model
 * since, or as a human has chosen for the rest of the phase (docs/decisions/0033-fix-by-another.md).
 */
import {
  type AgentChoice,
  type AgentRole,
  type AgentRule,
  defined,
  type SessionId,
  type StepAgent,
  type Step as StepName,
  sameAgent
} from "@reprise/protocol"
import type { SessionUse } from "../run/moves.ts"
import { hasPlan } from "../run/standalone.ts"
import type { PhaseRun, Run } from "../run/state.ts"
import { chooseAgent, type Situation, withNamed } from "./chooseAgent.ts"
import { hasFixer, plannedAgents, usualAgent } from "./plannedAgents.ts"
import { fillOf } from "./session.ts"

/** The author as the run has it, by no rule and no choice for a phase. */
export const usualAuthor = ({ models, request: { options } }: Run): AgentChoice => usualAgent(options, "author", models)

const usual = ({ models, request: { options } }: Run, role: AgentRole): AgentChoice => usualAgent(options, role, models)

const rulesOf = (run: Run, role: AgentRole): ReadonlyArray<AgentRule> => run.request.options[role].rules

/** Whose step it is. */
export const roleAt = (run: Run, step: StepName | undefined): AgentRole => {
  if (step === "REVIEW") return "reviewer"
  return (step === "QUALITY_RETRY" || step === "AUTO_FIX") && hasFixer(run.request.options) ? "fixer" : "author"
}

/** Who the fresh authors of this phase are; undefined: nobody has chosen. */
export const chosenAuthor = (phase: PhaseRun | undefined): (AgentChoice & { readonly by: string }) | undefined =>
  phase?.authors?.at(-1)

/** A human changed the model while a rule, or the fixer's own setting, held. */
const withOwnModel = ({ phase }: Run, agent: Omit<StepAgent, "role">, role: AgentRole): Omit<StepAgent, "role"> => {
  const changed = phase?.changedModels?.[role]
  if (changed === undefined || changed.runtime !== agent.runtime) return agent
  const { rule, ...choice } = agent
  return { ...withNamed(choice, { model: changed.model }), ...defined({ rule }) }
}

/** `situation` absent: only by the rules that have applied in the phase before. */
const resolve = (run: Run, role: AgentRole, situation?: Situation): StepAgent => {
  const chosen = role === "reviewer" ? undefined : chosenAuthor(run.phase)
  if (chosen !== undefined) return { role, ...chosen }
  const held = run.phase?.heldRules?.[role]
  const agent = chooseAgent(usual(run, role), rulesOf(run, role), situation, held)
  return { role, ...withOwnModel(run, agent, role) }
}

/** What an agent is, without why. */
export const choiceOf = ({ model, runtime, variant }: AgentChoice): AgentChoice => ({
  runtime,
  ...defined({ model, variant })
})

/** Who does the role's next fresh session. */
export const agentOf = (run: Run, role: AgentRole): AgentChoice => choiceOf(resolve(run, role))

/** Whether the role has what the run was started with: neither a rule nor a choice for the phase holds. */
export const isUsual = (run: Run, role: AgentRole): boolean => {
  const { by, rule } = resolve(run, role)
  return role !== "fixer" && by === undefined && rule === undefined
}

/** On which runtime the session is, and with which model it was used last; undefined: it is not known. */
const ownAgent = ({ phase }: Run, sessionId: SessionId): AgentChoice | undefined =>
  phase?.author?.sessionId === sessionId ? phase.author.agent : undefined

/** Who goes on in this author's session: its runtime never changes, its model may. */
export const agentIn = (run: Run, sessionId: SessionId, step: StepName | undefined): AgentChoice => {
  const next = agentOf(run, roleAt(run, step))
  const own = ownAgent(run, sessionId) ?? (run.phase?.author?.sessionId === sessionId ? usualAuthor(run) : undefined)
  return own === undefined || own.runtime === next.runtime ? next : own
}

/** How full the newest session is in which the role could go on: one on another runtime says nothing about it. */
const contextFillFor = (run: Run, phase: PhaseRun, role: AgentRole): number | undefined => {
  const session = role === "reviewer" ? phase.reviewer : phase.author
  if (session?.context === undefined) return undefined
  const { runtime } = agentOf(run, role)
  return (session.agent ?? usual(run, role)).runtime === runtime
    ? fillOf(session.context, run.request.options.continuation)
    : undefined
}

/**
 * Who does a step that begins. A human who continues a session gets whoever works in it: rules that lead to another runtime
 * wait for the next step.
 */
export const agentForStep = (run: Run, phase: PhaseRun, step: StepName, use: SessionUse): StepAgent => {
  const role = roleAt(run, step)
  const agent = resolve(run, role, {
    review: phase.verdicts + (role === "reviewer" ? 1 : 0),
    failedRetries: phase.failedRetries ?? 0,
    contextFill: contextFillFor(run, phase, role)
  })
  const own = use._tag === "continue" ? ownAgent(run, use.sessionId) : undefined
  return own === undefined || own.runtime === agent.runtime ? agent : { role: "author", ...choiceOf(own) }
}

/** Whether all steps of the run are done by one agent, as it was started: then nobody needs to be told who. */
export const hasOneAgent = (run: Run): boolean => {
  if (!hasPlan(run)) return true
  const planned = plannedAgents(run.request.options)
  const isOne = planned.every(({ role }) => role !== "fixer") && planned.every(({ rule }) => rule === undefined)
  return isOne && chosenAuthor(run.phase) === undefined && sameAgent(usualAuthor(run), usual(run, "reviewer"))
}

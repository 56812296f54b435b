/** A human changes the model of a role, or chooses the author of a phase (docs/decisions/0033-fix-by-another.md). */
import { type AgentChoice, agentText, defined, type Role, type Step, sameAgent } from "@reprise/protocol"
import type { Evolution } from "../run/family.ts"
import type { EventOf, RunEvents } from "../run/journal.ts"
import { locationOf } from "../run/standalone.ts"
import { type PhaseRun, type Run, withNotice, withPhase } from "../run/state.ts"
import { agentOf, chosenAuthor, isUsual, roleAt, usualAuthor } from "./agentOf.ts"
import { withNamed } from "./chooseAgent.ts"

/** Who does the role at the step that the run is in: fixing is part of the author's role. */
const roleNow = (run: Run, role: Role) => {
  const at = roleAt(run, run.step)
  return role === "author" && at === "fixer" ? at : role
}

/** From the role's next turn on. */
export const changeModel = (run: Run, { model, role }: { readonly model: string; readonly role: Role }): RunEvents =>
  agentOf(run, roleNow(run, role)).model === model ? [] : [{ _tag: "ModelChanged", ...locationOf(run), role, model }]

/** A model of another runtime than the run's is none for the phases that follow. */
const withModelOfChosen = (run: Run, model: string, chosen: AgentChoice): Run => {
  const isElsewhere = chosen.runtime !== run.request.options.runtime
  const changed = isElsewhere ? run : { ...run, models: { ...run.models, author: model } }
  return withPhase(changed, (phase) => ({
    ...phase,
    authors: phase.authors?.map((one, index, all) =>
      index === all.length - 1 ? { ...withNamed(one, { model }), by: one.by } : one
    )
  }))
}

/** Where a rule holds, or the fixer is at work, the change is for the rest of the phase, as a choice of an agent is. */
export const withModel = (run: Run, { model, role }: { readonly model: string; readonly role: Role }): Run => {
  const chosen = role === "author" ? chosenAuthor(run.phase) : undefined
  if (chosen !== undefined) return withModelOfChosen(run, model, chosen)
  const now = roleNow(run, role)
  if (isUsual(run, now)) return { ...run, models: { ...run.models, [role]: model } }
  const { runtime } = agentOf(run, now)
  return withPhase(run, (phase) => ({ ...phase, changedModels: { ...phase.changedModels, [now]: { runtime, model } } }))
}

/** What an answer names. A runtime alone has its own model, or the run's if it is the run's. */
const resolved = (run: Run, now: AgentChoice, named: Partial<AgentChoice>): AgentChoice => {
  const usual = usualAuthor(run)
  const isUsual = named.runtime !== undefined && named.runtime !== now.runtime && named.runtime === usual.runtime
  return withNamed(
    isUsual ? usual : now,
    defined({ runtime: named.runtime, model: named.model, variant: named.variant })
  )
}

/** For the rest of the phase. Nothing, where the answer names nobody else than who does the step already. */
export const changeAuthor = (
  run: Run,
  phase: PhaseRun,
  step: Step,
  { by, ...named }: Partial<AgentChoice> & { readonly by: string }
): RunEvents => {
  const now = agentOf(run, roleAt(run, step))
  const next = resolved(run, now, named)
  return sameAgent(next, now) ? [] : [{ _tag: "AuthorChanged", runId: run.runId, phase: phase.id, ...next, by }]
}

/** The fold of `AuthorChanged`. */
export const withAuthor = (run: Run, { by, model, phase: id, runtime, variant }: EventOf<"AuthorChanged">): Run => {
  const chosen: AgentChoice = {
    runtime,
    ...defined({ model, variant })
  }
  const changed = withPhase(run, (phase) => ({ ...phase, authors: [...(phase.authors ?? []), { ...chosen, by }] }))
  return withNotice(changed, `The author of phase ${id} is ${agentText(chosen)} from now on, chosen by ${by}.`)
}

export const agentsEvolution = { ModelChanged: withModel, AuthorChanged: withAuthor } satisfies Partial<Evolution>

/**
 * Which runtime and model the agents of a run have: as it was started, as a human has changed the model since, or as a human
 * has chosen for the author of the phase (docs/decisions/0033-fix-by-another.md).
 */
import { type AgentChoice, agentText, type Role, type RuntimeName, type SessionId } from "@reprise/protocol"
import type { EventOf, RunEvents } from "../actor/journal.ts"
import { type PhaseRun, type Run, withNotice, withPhase } from "../actor/state.ts"
import { locationOf } from "../phase/plan.ts"

const choiceOf = (runtime: RuntimeName, model: string | undefined): AgentChoice =>
  model === undefined ? { runtime } : { runtime, model }

/** The author of the phases for which nobody has chosen another. */
const usualAuthor = ({ models, request: { options } }: Run): AgentChoice =>
  choiceOf(options.runtime, models?.author ?? options.model)

/** Who the fresh authors of this phase are; undefined: nobody has chosen. */
export const chosenAuthor = (phase: PhaseRun | undefined): AgentChoice | undefined => {
  const chosen = phase?.authors?.at(-1)
  return chosen === undefined ? undefined : choiceOf(chosen.runtime, chosen.model)
}

/** A reviewer without a model of its own has that of the run's author, if its runtime is the same. */
const reviewerOf = (run: Run): AgentChoice => {
  const { options } = run.request
  const usual = usualAuthor(run)
  const runtime = options.reviewerRuntime ?? options.runtime
  const follows = runtime === usual.runtime ? usual.model : undefined
  return choiceOf(runtime, run.models?.reviewer ?? options.reviewerModel ?? follows)
}

/** Who does the role's next fresh session. `model` absent: the runtime chooses. */
export const agentOf = (run: Run, role: Role): AgentChoice =>
  role === "author" ? (chosenAuthor(run.phase) ?? usualAuthor(run)) : reviewerOf(run)

/** Who goes on in this author's session: its runtime never changes, its model may. */
export const agentIn = (run: Run, sessionId: SessionId): AgentChoice => {
  const next = agentOf(run, "author")
  const author = run.phase?.author
  const own = author?.sessionId === sessionId ? (author.agent ?? usualAuthor(run)) : undefined
  return own === undefined || own.runtime === next.runtime ? next : own
}

/** From the role's next turn on. */
export const changeModel = (run: Run, { model, role }: { readonly model: string; readonly role: Role }): RunEvents =>
  agentOf(run, role).model === model ? [] : [{ _tag: "ModelChanged", ...locationOf(run), role, model }]

/** A model of another runtime than the run's is none for the phases that follow. */
export const withModel = (run: Run, { model, role }: { readonly model: string; readonly role: Role }): Run => {
  const chosen = role === "author" ? chosenAuthor(run.phase) : undefined
  const isElsewhere = chosen !== undefined && chosen.runtime !== run.request.options.runtime
  const changed = isElsewhere ? run : { ...run, models: { ...run.models, [role]: model } }
  return chosen === undefined
    ? changed
    : withPhase(changed, (phase) => ({
        ...phase,
        authors: phase.authors?.map((one, index, all) => (index === all.length - 1 ? { ...one, model } : one))
      }))
}

/** What an answer names. A runtime alone has its own model, or the run's if it is the run's. */
const resolved = (run: Run, { model, runtime }: Partial<AgentChoice>): AgentChoice => {
  const now = agentOf(run, "author")
  const usual = usualAuthor(run)
  if (runtime === undefined || runtime === now.runtime) return choiceOf(now.runtime, model ?? now.model)
  return choiceOf(runtime, model ?? (runtime === usual.runtime ? usual.model : undefined))
}

/** For the rest of the phase. Nothing, where the answer names nobody else than who the author is already. */
export const changeAuthor = (
  run: Run,
  phase: PhaseRun,
  { by, ...named }: Partial<AgentChoice> & { readonly by: string }
): RunEvents => {
  const now = agentOf(run, "author")
  const next = resolved(run, named)
  return next.runtime === now.runtime && next.model === now.model
    ? []
    : [{ _tag: "AuthorChanged", runId: run.runId, phase: phase.id, ...next, by }]
}

/** The fold of `AuthorChanged`. */
export const withAuthor = (run: Run, { by, model, phase: id, runtime }: EventOf<"AuthorChanged">): Run => {
  const chosen = choiceOf(runtime, model)
  const changed = withPhase(run, (phase) => ({ ...phase, authors: [...(phase.authors ?? []), { ...chosen, by }] }))
  return withNotice(changed, `The author of phase ${id} is ${agentText(chosen)} from now on, chosen by ${by}.`)
}

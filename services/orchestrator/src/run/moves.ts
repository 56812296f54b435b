/**
 * What a decision leads to. Handlers return events and at most one move; `applyMoves` carries moves out one after the
 * other, each on the state that the events before it led to. So every transition passes one place.
 */
import type { EscalationOrigin, Evidence, Item, Role, SessionDecision, SessionId, Step } from "@reprise/protocol"
import type { Purpose, RunEvents } from "./journal.ts"
import type { Retry } from "./question.ts"
import type { PhaseRun, Run } from "./state.ts"
import type { Cause } from "./transitions.ts"

/** Why a step cannot go on: what a human is asked, or what auto mode tries again. */
export interface EscalationRequest {
  readonly origin: EscalationOrigin
  readonly reason: string
  /** The step that waits; absent: the current one. */
  readonly step?: Step | undefined
  /** Where fix and continue lead; absent: to the step that waits. */
  readonly retry?: Partial<Retry> | undefined
  /** Why the author's session cannot be continued although it may be in order; absent: as its state allows. */
  readonly noContinue?: string | undefined
  /** What the author is told when it continues its session; absent: it knows. */
  readonly brief?: string | undefined
  readonly items?: ReadonlyArray<Item> | undefined
  readonly evidence?: Evidence | undefined
  /** Another model may help: a human can change that of this role. */
  readonly changesModelOf?: Role | undefined
  /** Auto mode does not try again: the run is aborted. */
  readonly final?: boolean | undefined
}

/**
 * Which session an author's step uses. `current`: the phase's, as long as it is usable, else a new one. `fresh`: a new
 * one (in REVIEW: of the reviewer). `continue`: this one and no other; `brief` is what its author does not know yet.
 * `decision`: what the session policy decided, where no human did.
 */
export type SessionUse =
  /** `interrupted`: its author knows the task, and was interrupted in it. */
  | { readonly _tag: "current"; readonly interrupted?: true }
  | { readonly _tag: "fresh"; readonly decision?: SessionDecision | undefined }
  | {
      readonly _tag: "continue"
      readonly sessionId: SessionId
      readonly brief?: string | undefined
      readonly decision?: SessionDecision | undefined
    }

export type Move =
  | { readonly _tag: "Enter"; readonly step: Step; readonly cause: Cause; readonly use: SessionUse }
  | { readonly _tag: "Escalate"; readonly request: EscalationRequest }
  /** As a human's fix: what is in the way is granted or asked for again, else the step begins in a new session. */
  | { readonly _tag: "Retry"; readonly retry: Retry; readonly cause: Cause }
  /** One more prompt to the author within its step. */
  | { readonly _tag: "Tell"; readonly purpose: Purpose; readonly task: string; readonly continued: boolean }
  | { readonly _tag: "NextPhase" }
  /** Asks the agent's next question, if one came while another was open. */
  | { readonly _tag: "NextPrompt" }
  | { readonly _tag: "Abort"; readonly reason: string }
  /** What is decided on the state that the events before it led to: only the machine can fold them. */
  | { readonly _tag: "Decide"; readonly decide: (run: Run) => Outcome }

export interface Outcome {
  readonly events: RunEvents
  readonly move?: Move | undefined
}

export const outcome = (events: RunEvents, move?: Move): Outcome => ({ events, move })
/** The outcome with these events before its own. It was decided on the state before them. */
export const after = (events: RunEvents, { events: own, move }: Outcome): Outcome => outcome([...events, ...own], move)
export const next = (decide: (run: Run) => Outcome): Move => ({ _tag: "Decide", decide })
/** The same in the phase under way; without one nothing follows. */
export const nextInPhase = (decide: (run: Run, phase: PhaseRun) => Outcome): Move =>
  next((run) => (run.phase === undefined ? outcome([]) : decide(run, run.phase)))
export const fresh: SessionUse = { _tag: "fresh" }
export const enter = (step: Step, cause: Cause, use: SessionUse = { _tag: "current" }): Move => ({
  _tag: "Enter",
  step,
  cause,
  use
})
export const escalate = (request: EscalationRequest): Move => ({ _tag: "Escalate", request })

/**
 * What a decision leads to. Handlers return events and at most one move; `drive` carries moves out one after the
 * other, each on the state that the events before it led to. So every way through the machine passes one place.
 */

import type { EscalationOrigin, Evidence, Item, SessionDecision, SessionId, Step } from "@reprise/protocol"
import type { Retry } from "../question/question.ts"
import type { Purpose, RunEvents } from "./journal.ts"
import type { Cause } from "./transitions.ts"

/** Something that a human is asked about. */
export interface Trouble {
  readonly origin: EscalationOrigin
  readonly reason: string
  /** The step that waits; absent: the current one. */
  readonly step?: Step | undefined
  /** Where fix and continue lead; absent: to the step that waits. */
  readonly retry?: Partial<Retry> | undefined
  /** Why the author's session cannot be continued although it may be in order; absent: as its state allows. */
  readonly noContinue?: string | undefined
  /** What the author is to be told when it goes on; absent: it knows. */
  readonly brief?: string | undefined
  readonly items?: ReadonlyArray<Item> | undefined
  readonly evidence?: Evidence | undefined
  /** Auto mode does not try again: the run is aborted. */
  readonly final?: boolean | undefined
}

/**
 * Which session an author step is done in. `known`: the phase's, as long as it is usable, else a new one. `fresh`: a new
 * one (of the reviewer in REVIEW). `continue`: this one and no other; `brief` is what its author does not know yet.
 * `session`: what decided it, where no human did.
 */
export type How =
  | { readonly _tag: "known" }
  | { readonly _tag: "fresh"; readonly session?: SessionDecision | undefined }
  | {
      readonly _tag: "continue"
      readonly sessionId: SessionId
      readonly brief?: string | undefined
      readonly session?: SessionDecision | undefined
    }

export type Move =
  | { readonly _tag: "Enter"; readonly step: Step; readonly cause: Cause; readonly how: How }
  | { readonly _tag: "Escalate"; readonly trouble: Trouble }
  /** As a human's fix: what is in the way is granted or asked for again, else the step begins in a new session. */
  | { readonly _tag: "Retry"; readonly retry: Retry; readonly cause: Cause }
  /** One more word to the author within its step. */
  | { readonly _tag: "Tell"; readonly purpose: Purpose; readonly task: string; readonly continued: boolean }
  | { readonly _tag: "NextPhase" }
  /** The agent's next prompt, if any came while another was open. */
  | { readonly _tag: "NextPrompt" }
  | { readonly _tag: "Abort"; readonly reason: string }

export interface Outcome {
  readonly events: RunEvents
  readonly move?: Move | undefined
}

export const outcome = (events: RunEvents, move?: Move): Outcome => ({ events, move })
export const enter = (step: Step, cause: Cause, how: How = { _tag: "known" }): Move => ({
  _tag: "Enter",
  step,
  cause,
  how
})
export const fresh: How = { _tag: "fresh" }
export const escalate = (trouble: Trouble): Move => ({ _tag: "Escalate", trouble })

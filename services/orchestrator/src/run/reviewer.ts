/** Whose sessions are the reviewer's. */
import { reviewKey } from "@reprise/protocol"
import type { PhaseRun, Run } from "./state.ts"

/** Whether this session belongs to the phase's reviewer: the ids of those begin with the review's key. */
export const isReviewerOf = (run: Run, phase: PhaseRun, sessionId: string): boolean =>
  sessionId.startsWith(`${reviewKey(run.runId, phase.id)}-`)

/** The same for the phase under way. */
export const isReviewer = (run: Run, sessionId: string): boolean =>
  run.phase !== undefined && isReviewerOf(run, run.phase, sessionId)

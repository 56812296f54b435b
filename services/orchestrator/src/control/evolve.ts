/** What pauses, failures and the end change in a run. */
import { type Evolution, unchanged } from "../run/family.ts"
import { nothing, withNotice } from "../run/state.ts"

export const controlEvolution = {
  CommandRefused: unchanged,
  WorkspaceBroke: (run, { operation, reason }) =>
    withNotice({ ...run, pending: nothing }, `${operation} failed: ${reason}`),
  PauseAsked: (run) => ({ ...run, pauseAsked: true }),
  InputHeld: (run, { input }) => ({ ...run, held: input }),
  RunPaused: (run) => ({ ...run, status: "paused", pauseAsked: false }),
  RunResumed: (run) => ({
    ...run,
    status: run.pending._tag === "Answer" ? "waiting" : "running",
    pauseAsked: false,
    held: undefined
  }),
  RunCompleted: (run) => ({ ...run, pending: nothing, status: "completed", reason: undefined }),
  RunFailed: (run, { reason }) => ({ ...run, pending: nothing, status: "failed", reason }),
  RunAborted: (run, { reason }) => ({ ...run, pending: nothing, status: "aborted", reason })
} satisfies Partial<Evolution>

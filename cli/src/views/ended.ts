/** Whether runs and sessions have ended, by their status. Pure. */
import type { RunView, SessionView } from "@reprise/protocol"

/** The run has not ended. */
export const isOpenRun = ({ status }: Pick<RunView, "status">): boolean =>
  status === "running" || status === "waiting" || status === "paused"

/** The session has ended. */
export const isOver = ({ status }: Pick<SessionView, "status">): boolean =>
  status === "expired" || status === "completed" || status === "aborted" || status === "failed"

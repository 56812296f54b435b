/** A run as a line of a list: there may be ten thousand, and what they did is looked at one at a time. */
import { defined, type RunLine, type RunView } from "@reprise/protocol"

const longestReason = 400

const cut = (reason: string) => (reason.length <= longestReason ? reason : `${reason.slice(0, longestReason)}…`)

export const runLine = ({
  escalationId,
  host,
  phase,
  planPath,
  reason,
  runId,
  status,
  step,
  updatedAt,
  waitsFor
}: RunView): RunLine => ({
  ...{ runId, status, planPath, updatedAt },
  ...defined({ host, waitsFor, phase, step, escalationId }),
  ...(reason === undefined ? {} : { reason: cut(reason) })
})

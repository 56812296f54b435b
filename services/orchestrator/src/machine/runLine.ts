/** A run as a line of a list: there may be ten thousand, and what they did is looked at one at a time. */
import type { RunLine, RunView } from "@reprise/protocol"

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
  ...(host === undefined ? {} : { host }),
  ...(waitsFor === undefined ? {} : { waitsFor }),
  ...(phase === undefined ? {} : { phase }),
  ...(step === undefined ? {} : { step }),
  ...(escalationId === undefined ? {} : { escalationId }),
  ...(reason === undefined ? {} : { reason: cut(reason) })
})

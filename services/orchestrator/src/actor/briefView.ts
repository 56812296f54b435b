/** A run in a list: there may be ten thousand, and what they did is looked at one at a time. */
import type { BriefRunView, RunView } from "@reprise/protocol"

const longestReason = 400

const cut = (reason: string) => (reason.length <= longestReason ? reason : `${reason.slice(0, longestReason)}…`)

export const briefRun = ({
  escalationId,
  phase,
  planPath,
  reason,
  runId,
  status,
  step,
  updatedAt
}: RunView): BriefRunView => ({
  ...{ runId, status, planPath, updatedAt },
  ...(phase === undefined ? {} : { phase }),
  ...(step === undefined ? {} : { step }),
  ...(escalationId === undefined ? {} : { escalationId }),
  ...(reason === undefined ? {} : { reason: cut(reason) })
})

/** What the workspace's reports lead to, from its preparation to the summary of the run. */
import { completeRun } from "../run/end.ts"
import { type Handlers, inPhase, onReport } from "../run/family.ts"
import { outcome } from "../run/moves.ts"
import { phaseBlocked, phaseFinished, phaseSummarised } from "./finish.ts"
import { workspacePrepared, workspaceRefused } from "./prepare.ts"

export const phaseHandlers = {
  WorkspacePrepared: onReport("PrepareWorkspace", (_run, input) => workspacePrepared(input)),
  WorkspaceRefused: onReport("PrepareWorkspace", workspaceRefused),
  PhaseFinished: onReport("FinishPhase", inPhase(phaseFinished)),
  PhaseBlocked: onReport("FinishPhase", inPhase(phaseBlocked)),
  SummaryWritten: onReport("WriteSummary", (run, { path, phase }, command) => {
    if (command.phase !== phase) return undefined
    return phase === undefined ? outcome(completeRun(run)) : phaseSummarised(phase, path)
  })
} satisfies Partial<Handlers>

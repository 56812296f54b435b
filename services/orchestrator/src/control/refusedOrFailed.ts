/** The workspace failed, or a service refused what the run asked for: a human says whether it is asked again. */
import type { WorkspaceCommand } from "@reprise/protocol"
import type { InputOf } from "../actor/inputs.ts"
import type { RunEvent } from "../actor/journal.ts"
import { escalate, type Outcome, outcome } from "../actor/moves.ts"
import type { Pending, Run } from "../actor/state.ts"
import { completeRun, failRun } from "./end.ts"

/** While the workspace is prepared the run fails at once; a summary is not worth a human's time. */
export const workspaceBroke = (run: Run, command: WorkspaceCommand, reason: string): Outcome => {
  const broke: RunEvent = { _tag: "WorkspaceBroke", operation: command._tag, reason }
  if (command._tag === "PrepareWorkspace") {
    return outcome([broke, ...failRun(run, `The workspace cannot be prepared: ${reason}`)])
  }
  if (command._tag === "WriteSummary") {
    return command.phase === undefined
      ? outcome([broke, ...completeRun(run)])
      : outcome([broke, { _tag: "PhaseSummarised", phase: command.phase }], { _tag: "NextPhase" })
  }
  return outcome(
    [broke],
    escalate({
      origin: "workspace",
      reason: `${command._tag} failed: ${reason}`,
      retry: { command },
      noContinue: "the workspace failed, not the author"
    })
  )
}

/** A service refused what the run waits for. */
export const commandRefused = (run: Run, pending: Pending, event: InputOf<"CommandRefused">): Outcome => {
  const { command, reason } = event
  const message = `${command} was refused: ${reason}`
  switch (pending._tag) {
    case "Turn":
      return outcome(
        [{ _tag: "TurnBroke", turnId: pending.turnId, kind: "other", message, usable: false, unread: true }],
        escalate({ origin: "runtime", reason: message })
      )
    case "Review":
      return outcome(
        [{ _tag: "ReviewBroke", cycle: pending.cycle, reason: message }],
        escalate({
          origin: "reviewer",
          reason: message,
          retry: { step: "REVIEW" },
          noContinue: "the reviewer refused, and its session is not the author's"
        })
      )
    case "Workspace":
      return workspaceBroke(run, pending.command, message)
    case "Agent":
    case "Answer":
    case "Nothing":
      return outcome([])
  }
}

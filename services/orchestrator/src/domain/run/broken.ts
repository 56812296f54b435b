/** The workspace broke, or a service refused what the run asked for: asked again when a human says so. */
import type { WorkspaceCommand } from "@reprise/protocol"
import type { RunEvent } from "../Event.ts"
import type { InputOf } from "../Input.ts"
import { escalate, type Outcome, outcome } from "../Move.ts"
import type { Pending, Run } from "../Run.ts"
import { completeRun, failRun } from "./end.ts"

/** Before the workspace is prepared the run fails; a summary is not worth a human's time. */
export const workspaceBroke = (run: Run, command: WorkspaceCommand, reason: string): Outcome => {
  const broke: RunEvent = { _tag: "WorkspaceBroke", operation: command._tag, reason }
  switch (command._tag) {
    case "PrepareWorkspace":
      return outcome([broke, ...failRun(run, `The workspace cannot be prepared: ${reason}`)])
    case "WriteSummary":
      return command.phase === undefined
        ? outcome([broke, ...completeRun(run)])
        : outcome([broke, { _tag: "PhaseSummarised", phase: command.phase }], { _tag: "NextPhase" })
    default:
      return outcome(
        [broke],
        escalate({
          origin: "workspace",
          reason: `${command._tag} failed: ${reason}`,
          retry: { command },
          noContinue: "it is the workspace that failed, not the author"
        })
      )
  }
}

/** A service said no to what the run waits for. */
export const commandRefused = (run: Run, pending: Pending, event: InputOf<"CommandRefused">): Outcome => {
  const { command, reason } = event
  const message = `${command} was refused: ${reason}`
  switch (pending._tag) {
    case "Turn":
      return outcome(
        [{ _tag: "TurnBroke", turnId: pending.turnId, kind: "other", message, usable: false }],
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
    default:
      return outcome([])
  }
}

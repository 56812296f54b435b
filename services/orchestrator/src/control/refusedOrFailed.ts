/** The workspace failed, or a service refused what the run asked for: a human says whether it is asked again. */
import { defined, type WorkspaceCommand } from "@reprise/protocol"
import { unattendedReply } from "../question/agentPrompt.ts"
import { completeRun, failRun } from "../run/end.ts"
import type { InputOf } from "../run/inputs.ts"
import type { RunEvent } from "../run/journal.ts"
import { escalate, type Outcome, outcome } from "../run/moves.ts"
import type { Question } from "../run/question.ts"
import { isShown, locationOf } from "../run/standalone.ts"
import type { Review, Run, Turn } from "../run/state.ts"
import { shorten } from "../run/text.ts"

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

/**
 * The gate refused the run's own question, so that nobody could ever answer it. The run is paused with the reason; when it
 * is resumed, the step that asked begins again. The agent that asked is answered as in auto mode. A standalone session,
 * which nobody can pause, ends.
 */
export const questionRefused = (run: Run, question: Question, { reason }: InputOf<"CommandRefused">): Outcome => {
  const { ask, prompt } = question
  const withdrawn: RunEvent = {
    _tag: "QuestionWithdrawn",
    escalationId: ask.escalationId,
    reason: "superseded",
    byGate: true
  }
  const refused = `The gate refused the question '${shorten(ask.reason, 200)}': ${reason}`
  if (prompt !== undefined) {
    const { promptId, sessionId } = prompt
    const reply = unattendedReply(prompt) ?? "reject"
    const noted: RunEvent = { _tag: "Noted", text: `${refused} The agent was answered: ${reply}` }
    const step = run.step === undefined ? {} : { step: run.step }
    const resumed: RunEvent = { _tag: "StepResumed", ...locationOf(run), ...step, cause: "answer" }
    return outcome(
      [withdrawn, noted, resumed, { _tag: "PromptReplied", sessionId, promptId, reply, unattended: true }],
      {
        _tag: "NextPrompt"
      }
    )
  }
  if (!isShown(run)) return outcome([withdrawn], { _tag: "Abort", reason: refused })
  const noted: RunEvent = { _tag: "Noted", text: `${refused} 'reprise resume' begins the step again.` }
  return outcome([withdrawn, noted, { _tag: "RunPaused", ...locationOf(run), ...defined({ step: ask.step }) }])
}

export const refusalText = ({ command, reason }: InputOf<"CommandRefused">): string =>
  `${command} was refused: ${reason}`

export const turnRefused = ({ turnId }: Turn, event: InputOf<"CommandRefused">): Outcome => {
  const message = refusalText(event)
  return outcome(
    [{ _tag: "TurnBroke", turnId, kind: "other", message, session: "doubtful", unread: true }],
    escalate({ origin: "runtime", reason: message })
  )
}

export const reviewRefused = ({ cycle }: Review, event: InputOf<"CommandRefused">): Outcome => {
  const reason = refusalText(event)
  return outcome(
    [{ _tag: "ReviewBroke", cycle, reason }],
    escalate({
      origin: "reviewer",
      reason,
      retry: { step: "REVIEW" },
      noContinue: "the reviewer refused, and its session is not the author's"
    })
  )
}

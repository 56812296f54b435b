/** What failures of the workspace, and refusals of what the run asked for, lead to. */
import { type Decide, type Handlers, nothingRecorded, onQuestion } from "../run/family.ts"
import type { InputOf } from "../run/inputs.ts"
import { type Turn, workOf } from "../run/state.ts"
import { questionRefused, refusalText, reviewRefused, turnRefused, workspaceBroke } from "./refusedOrFailed.ts"

/** The gate's refusal of a question. A closed one was answered or withdrawn: the gate tells that by itself. */
const { move: questionTurnedDown } = onQuestion<InputOf<"CommandRefused">>(
  ({ ask }, { code, escalationId }) => code !== "closed" && (escalationId ?? ask.escalationId) === ask.escalationId,
  questionRefused
)

const isTurnRefused = (turn: Turn, { command, sessionId, turnId }: InputOf<"CommandRefused">): boolean =>
  (command === "StartTurn" || command === "ContinueSession") &&
  (turnId ?? turn.turnId) === turn.turnId &&
  (sessionId ?? turn.sessionId) === turn.sessionId

/** The refusal of the work that the run has asked for. */
const workRefused: Decide<InputOf<"CommandRefused">> = (run, input) => {
  const asked = workOf(run, "Workspace")?.command
  if (asked !== undefined) {
    return asked._tag === input.command ? workspaceBroke(run, asked, refusalText(input)) : undefined
  }
  const turn = workOf(run, "Turn")
  if (turn !== undefined) return isTurnRefused(turn, input) ? turnRefused(turn, input) : undefined
  const review = workOf(run, "Review")
  return review !== undefined && input.command === "RequestReview" ? reviewRefused(review, input) : undefined
}

const workspaceFailed: Decide<InputOf<"WorkspaceFailed">> = (run, { operation, phase, reason }) => {
  const command = workOf(run, "Workspace")?.command
  if (command === undefined) return undefined
  const isAbout =
    command._tag === "PrepareWorkspace"
      ? // Late words of a host that is gone are about something else.
        operation === command._tag
      : phase === undefined || !("phase" in command) || command.phase === phase
  return isAbout ? workspaceBroke(run, command, reason) : undefined
}

export const controlHandlers = {
  WorkspaceFailed: { record: nothingRecorded, move: workspaceFailed },
  CommandRefused: {
    record: (_run, { command, reason }) => [{ _tag: "Noted", text: `${command} was refused: ${reason}` }],
    move: (run, input) => (input.command === "RaiseEscalation" ? questionTurnedDown : workRefused)(run, input)
  }
} satisfies Partial<Handlers>

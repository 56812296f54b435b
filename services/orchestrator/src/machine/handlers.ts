/**
 * Which inputs a run waits for, and what each leads to: one entry per input, so that a new one does not compile without
 * a handler. Any input that the run does not wait for never moves it
 * (docs/design/run-machine.md#the-run-machine-orchestrator).
 */
import type { PhaseId, WorkspaceCommand } from "@reprise/protocol"
import { claimsRejected, commitRejected, commitVerified } from "../author/commit.ts"
import { turnCompleted, turnFailed } from "../author/report.ts"
import { endedWithTurn, type SessionEnd, sessionEnded, sessionSeen } from "../author/sessionEnd.ts"
import { checkpointVerified, stateWritten } from "../checkpoint/checkpoint.ts"
import { claimsVerified } from "../checkpoint/claims.ts"
import { continuationRejected, continuationVerified } from "../checkpoint/continuation.ts"
import { questionRefused, refusalText, reviewRefused, turnRefused, workspaceBroke } from "../control/refusedOrFailed.ts"
import { countOthers, countTurn } from "../limits/usage.ts"
import { phaseBlocked, phaseFinished, phaseSummarised } from "../phase/finish.ts"
import { workspacePrepared, workspaceRefused } from "../phase/prepare.ts"
import { qualityFailed, qualityPassed } from "../quality/gates.ts"
import { agentPrompting, withdrawMootPrompt } from "../question/agentPrompt.ts"
import { answerReceived, withdrawnByGate } from "../question/answer.ts"
import {
  agentEnded,
  agentGone,
  agentIdle,
  agentWorking,
  noteResting,
  noteTakenOver,
  noteWorking
} from "../question/autoResume.ts"
import { reviewFailed, verdictReached } from "../review/review.ts"
import { completeRun } from "../run/end.ts"
import type { InputOf, RunInput } from "../run/inputs.ts"
import type { RunEvents } from "../run/journal.ts"
import { after, type Outcome, outcome } from "../run/moves.ts"
import { sameCommit } from "../run/plan.ts"
import { concerns, type Question } from "../run/question.ts"
import { gateRefusals } from "../run/refusals.ts"
import { isReviewer } from "../run/reviewer.ts"
import { type PhaseRun, type Run, type Turn, workOf } from "../run/state.ts"
import { runAfter } from "./evolve.ts"

/** Commands that are obeyed in any state, whatever the run waits for, and the report that it waits in vain. */
type Control =
  | "StartRun"
  | "StartStandaloneRun"
  | "PauseRun"
  | "ResumeRun"
  | "ChangeModel"
  | "MoveRun"
  | "AbortRun"
  | "ReportStuck"
type HandledType = Exclude<RunInput["_tag"], Control>
export type HandledInput = InputOf<HandledType>

/** Decides what an input leads to; undefined: the run waits for something else. */
type Decide<Input> = (run: Run, input: Input) => Outcome | undefined

interface Handler<Input> {
  /** Recorded whether or not the run waits for the input. */
  readonly record: (run: Run, input: Input) => RunEvents
  readonly move: Decide<Input>
}

type Handle<Input> = (run: Run, phase: PhaseRun, input: Input) => Outcome
type CommandOf<Name extends WorkspaceCommand["_tag"]> = Extract<WorkspaceCommand, { readonly _tag: Name }>

const nothingRecorded = (): RunEvents => []

/** In the phase that the input is about. */
const inPhase =
  <Input extends { readonly phase: PhaseId }>(
    handle: (...all: Parameters<Handle<Input>>) => Outcome | undefined
  ): Decide<Input> =>
  (run, input) =>
    run.phase?.id === input.phase ? handle(run, run.phase, input) : undefined

const isCommand = <Name extends WorkspaceCommand["_tag"]>(
  command: WorkspaceCommand,
  name: Name
): command is CommandOf<Name> => command._tag === name

/** The workspace's report about the command of this name that the run waits for. */
const onReport = <Name extends WorkspaceCommand["_tag"], Input>(
  name: Name,
  move: (run: Run, input: Input, command: CommandOf<Name>) => Outcome | undefined,
  record: Handler<NoInfer<Input>>["record"] = nothingRecorded
): Handler<Input> => ({
  record,
  move: (run, input) => {
    const command = workOf(run, "Workspace")?.command
    return command !== undefined && isCommand(command, name) ? move(run, input, command) : undefined
  }
})

const onCommit = <Input extends InputOf<"CommitVerified" | "CommitRejected">>(handle: Handle<Input>): Handler<Input> =>
  onReport("VerifyCommit", (run, input, { commit }) =>
    sameCommit(commit, input.commit) ? inPhase(handle)(run, input) : undefined
  )

/** `handle`: of the phase's own gates. Those that verify a checkpoint lead on from there. */
const onGates = <Input extends InputOf<"QualityPassed" | "QualityFailed">>(handle: Handle<Input>): Handler<Input> =>
  onReport(
    "RunQualityGates",
    (run, input, { attempt, checkpoint }) =>
      attempt === input.attempt && checkpoint === input.checkpoint
        ? inPhase(checkpoint === undefined ? handle : checkpointVerified)(run, input)
        : undefined,
    (_run, { phase, results }) => gateRefusals(phase, results)
  )

/** The end of the author's turn that the run waits for. What it cost counts in any case. */
const onTurnEnd = <Input extends InputOf<"TurnCompleted" | "TurnFailed">>(
  handle: (run: Run, phase: PhaseRun, turn: Turn, input: Input) => Outcome
): Handler<Input> => ({
  record: (run, input) => [...countTurn(run, input), ...noteTakenOver(run, input), ...endedWithTurn(run, input)],
  move: (run, input) => {
    const turn = workOf(run, "Turn")
    return turn?.turnId === input.turnId && run.phase !== undefined ? handle(run, run.phase, turn, input) : undefined
  }
})

const onReview = <Input extends InputOf<"VerdictReached" | "ReviewFailed">>(handle: Handle<Input>): Handler<Input> => ({
  record: nothingRecorded,
  move: inPhase((run, phase, input) =>
    workOf(run, "Review")?.cycle === input.cycle ? handle(run, phase, input) : undefined
  )
})

/** The agent that the run waits for after its question was withdrawn. */
const onAgent = <Input extends InputOf<"AgentIdle" | "AgentGone"> | SessionEnd>(
  handle: Handle<Input>,
  record: Handler<Input>["record"]
): Handler<Input> => ({
  record,
  move: (run, input) =>
    workOf(run, "Agent")?.sessionId === input.sessionId && run.phase !== undefined
      ? handle(run, run.phase, input)
      : undefined
})

/** A session ends: whoever waits for its agent waits in vain. */
const onSessionEnd = <Input extends SessionEnd>(): Handler<Input> =>
  onAgent((_run, _phase, input: Input) => agentEnded(input), sessionEnded)

/** What closes the question that is open. */
const onQuestion = <Input>(
  closes: (question: Question, input: NoInfer<Input>) => boolean,
  handle: (run: Run, question: Question, input: Input) => Outcome,
  record: Handler<NoInfer<Input>>["record"] = nothingRecorded
): Handler<Input> => ({
  record,
  move: (run, input) =>
    run.pending._tag === "Answer" && closes(run.pending.question, input)
      ? handle(run, run.pending.question, input)
      : undefined
})

const isOpen = (question: Question, input: InputOf<"AnswerReceived"> | InputOf<"EscalationWithdrawn">): boolean =>
  question.ask.escalationId === input.escalationId

/** Ignored as far as the machine goes: such an input is only recorded. */
const ignored = <Input>(record: Handler<Input>["record"]): Handler<Input> => ({ record, move: () => undefined })

/** An agent's own question: of the author's turn, of the review, or of an agent that works by itself. */
const mayPrompt = (run: Run, { sessionId }: InputOf<"AgentPrompting">): boolean => {
  const review = workOf(run, "Review")
  if (review !== undefined) return isReviewer(run, sessionId) && review.interrupted !== true
  const turn = workOf(run, "Turn")
  return turn === undefined
    ? workOf(run, "Agent")?.sessionId === sessionId
    : turn.sessionId === sessionId && !turn.interrupted
}

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

export type Handlers = { readonly [Tag in HandledType]: Handler<InputOf<Tag>> }

export const handlers: Handlers = {
  WorkspacePrepared: onReport("PrepareWorkspace", (_run, input) => workspacePrepared(input)),
  WorkspaceRefused: onReport("PrepareWorkspace", workspaceRefused),
  WorkspaceFailed: { record: nothingRecorded, move: workspaceFailed },
  CommitVerified: onCommit((run, _phase, input) => commitVerified(run, input)),
  CommitRejected: onCommit(commitRejected),
  QualityPassed: onGates((_run, _phase, input) => qualityPassed(input)),
  QualityFailed: onGates(qualityFailed),
  ClaimsVerified: onReport(
    "VerifyClaims",
    inPhase((_run, phase, input) => claimsVerified(phase, input))
  ),
  ClaimsRejected: onReport("VerifyClaims", inPhase(claimsRejected)),
  PhaseFinished: onReport("FinishPhase", inPhase(phaseFinished)),
  PhaseBlocked: onReport("FinishPhase", inPhase(phaseBlocked)),
  ContinuationStateWritten: onReport("WriteContinuationState", inPhase(stateWritten)),
  ContinuationVerified: onReport(
    "VerifyContinuation",
    inPhase((_run, phase, input) => continuationVerified(phase, input))
  ),
  ContinuationRejected: onReport(
    "VerifyContinuation",
    inPhase((_run, _phase, input) => continuationRejected(input))
  ),
  SummaryWritten: onReport("WriteSummary", (run, { path, phase }, command) => {
    if (command.phase !== phase) return undefined
    return phase === undefined ? outcome(completeRun(run)) : phaseSummarised(phase, path)
  }),
  TurnCompleted: onTurnEnd(turnCompleted),
  TurnFailed: onTurnEnd((run, _phase, turn, input) => turnFailed(run, turn, input)),
  VerdictReached: onReview(verdictReached),
  ReviewFailed: onReview(reviewFailed),
  AgentWorking: onQuestion<InputOf<"AgentWorking">>(
    (question, input) => input.cause !== "turn" && concerns(question, input.sessionId),
    agentWorking,
    noteWorking
  ),
  AgentIdle: onAgent(agentIdle, noteResting),
  AgentGone: onAgent<InputOf<"AgentGone">>((_run, _phase, input) => agentGone(input), noteResting),
  AgentPrompting: {
    record: nothingRecorded,
    move: (run, input) => (mayPrompt(run, input) ? agentPrompting(run, input) : undefined)
  },
  AnswerReceived: onQuestion(isOpen, answerReceived),
  EscalationWithdrawn: onQuestion(isOpen, (_run, question, input) => withdrawnByGate(question, input)),
  CommandRefused: {
    record: (_run, { command, reason }) => [{ _tag: "Noted", text: `${command} was refused: ${reason}` }],
    move: (run, input) => (input.command === "RaiseEscalation" ? questionTurnedDown : workRefused)(run, input)
  },
  SessionCreated: ignored((_run, { sessionId }) => sessionSeen("created", { sessionId })),
  SessionReused: ignored((_run, input) => sessionSeen("reused", input)),
  SessionReplaced: ignored((_run, { reason, sessionId }) => sessionSeen("replaced", { sessionId, reason })),
  PermissionRefused: ignored((_run, { phase, role, rule, sandbox, text, unattended }) => [
    {
      ...{ _tag: "RefusalSeen", role, text, unattended },
      ...(phase === undefined ? {} : { phase }),
      ...(rule === undefined ? {} : { rule }),
      ...(sandbox === undefined ? {} : { sandbox })
    }
  ]),
  UsageCounted: ignored((_run, input) => countOthers(input)),
  SessionExpired: onSessionEnd(),
  SessionCompleted: onSessionEnd(),
  SessionAborted: onSessionEnd(),
  SessionFailed: onSessionEnd(),
  SessionArchived: onSessionEnd()
}

const handlerOf = <Tag extends HandledType>(tag: Tag): Handler<InputOf<Tag>> => handlers[tag]

/** Whether the input has a handler, unlike the commands that are obeyed at any time. */
export const isHandled = (input: RunInput): input is HandledInput => input._tag in handlers

export const recordOf = <Tag extends HandledType>(run: Run, tag: Tag, input: InputOf<Tag>): RunEvents =>
  handlerOf(tag).record(run, input)

const moveOf = <Tag extends HandledType>(run: Run, tag: Tag, input: InputOf<Tag>): Outcome | undefined =>
  handlerOf(tag).move(run, input)

/** Everything that an input leads to; undefined: the run waits for something else. */
export const actUpon = (run: Run, input: HandledInput): Outcome | undefined => {
  const withdrawn = withdrawMootPrompt(run, input)
  const moved = moveOf(runAfter(run, withdrawn), input._tag, input)
  return moved === undefined ? undefined : after(withdrawn, moved)
}

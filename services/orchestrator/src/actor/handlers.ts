/**
 * Which inputs a run waits for, and what each leads to: one entry per input, so that a new one does not compile without
 * a handler. Any input that the run does not wait for never moves it
 * (docs/design/run-machine.md#the-run-machine-orchestrator).
 */
import type { WorkspaceCommand } from "@reprise/protocol"
import { claimsRejected, commitRejected, commitVerified } from "../author/commit.ts"
import { turnCompleted, turnFailed } from "../author/report.ts"
import { endedWithTurn, type SessionEnd, sessionEnded, sessionSeen } from "../author/session.ts"
import { checkpointVerified, stateWritten } from "../checkpoint/checkpoint.ts"
import { claimsVerified } from "../checkpoint/claims.ts"
import { continuationRejected, continuationVerified } from "../checkpoint/continuation.ts"
import { completeRun } from "../control/end.ts"
import { commandRefused, questionRefused, workspaceBroke } from "../control/refusedOrFailed.ts"
import { countOthers, countTurn } from "../control/usage.ts"
import { phaseBlocked, phaseFinished, phaseSummarised } from "../phase/finish.ts"
import { sameCommit } from "../phase/plan.ts"
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
import { concerns, type Question } from "../question/question.ts"
import { gateRefusals } from "../question/refusals.ts"
import { isReviewerOf, reviewFailed, verdictReached } from "../review/review.ts"
import { applyMoves } from "./applyMoves.ts"
import { runAfter } from "./evolve.ts"
import type { InputOf, RunInput } from "./inputs.ts"
import type { RunEvents } from "./journal.ts"
import { type Outcome, outcome } from "./moves.ts"
import { type PhaseRun, type Run, type Turn, underWay } from "./state.ts"

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

interface Handler<Input> {
  /** Recorded whether or not the run waits for the input. */
  readonly record: (run: Run, input: Input) => RunEvents
  /** Whether the input answers what the run waits for. */
  readonly isAwaited: (run: Run, input: Input) => boolean
  /** What an awaited input leads to. */
  readonly move: (run: Run, input: Input) => Outcome
}

type Handle<Input> = (run: Run, phase: PhaseRun, input: Input) => Outcome
type CommandOf<Name extends WorkspaceCommand["_tag"]> = Extract<WorkspaceCommand, { readonly _tag: Name }>

const nothingRecorded = (): RunEvents => []

const inPhase =
  <Input>(handle: Handle<Input>) =>
  (run: Run, input: Input): Outcome =>
    run.phase === undefined ? outcome([]) : handle(run, run.phase, input)

const isCommand = <Name extends WorkspaceCommand["_tag"]>(
  command: WorkspaceCommand,
  name: Name
): command is CommandOf<Name> => command._tag === name

/** The workspace's report about the command of this name that the run waits for. */
const onReport = <Name extends WorkspaceCommand["_tag"], Input>(
  name: Name,
  isAbout: (command: CommandOf<Name>, input: NoInfer<Input>) => boolean,
  move: (run: Run, input: Input) => Outcome,
  record: Handler<NoInfer<Input>>["record"] = nothingRecorded
): Handler<Input> => ({
  record,
  isAwaited: ({ pending }, input) => {
    const current = underWay(pending)
    return current._tag === "Workspace" && isCommand(current.command, name) && isAbout(current.command, input)
  },
  move
})

const samePhase = (command: { readonly phase?: string }, input: { readonly phase?: string }): boolean =>
  command.phase === input.phase

const sameGates = (
  command: CommandOf<"RunQualityGates">,
  input: InputOf<"QualityPassed"> | InputOf<"QualityFailed">
): boolean => samePhase(command, input) && command.attempt === input.attempt && command.checkpoint === input.checkpoint

const refusedInGates: Handler<InputOf<"QualityPassed"> | InputOf<"QualityFailed">>["record"] = (
  _run,
  { phase, results }
) => gateRefusals(phase, results)

const verifiesCommit = (
  command: CommandOf<"VerifyCommit">,
  input: InputOf<"CommitVerified"> | InputOf<"CommitRejected">
): boolean => samePhase(command, input) && sameCommit(command.commit, input.commit)

/** The end of the author's turn that the run waits for. What it cost counts in any case. */
const onTurnEnd = <Input extends InputOf<"TurnCompleted" | "TurnFailed">>(
  handle: (run: Run, phase: PhaseRun, turn: Turn, input: Input) => Outcome
): Handler<Input> => ({
  record: (run, input) => [...countTurn(run, input), ...noteTakenOver(run, input), ...endedWithTurn(run, input)],
  isAwaited: ({ pending }, input) => {
    const turn = underWay(pending)
    return turn._tag === "Turn" && turn.turnId === input.turnId
  },
  move: inPhase((run, phase, input) => {
    const turn = underWay(run.pending)
    return turn._tag === "Turn" ? handle(run, phase, turn, input) : outcome([])
  })
})

const onReview = <Input extends InputOf<"VerdictReached" | "ReviewFailed">>(handle: Handle<Input>): Handler<Input> => ({
  record: nothingRecorded,
  isAwaited: ({ pending, phase }, input) => {
    const review = underWay(pending)
    return review._tag === "Review" && review.cycle === input.cycle && phase?.id === input.phase
  },
  move: inPhase(handle)
})

/** The agent that the run waits for after its question was withdrawn. */
const onAgent = <Input extends InputOf<"AgentIdle" | "AgentGone"> | SessionEnd>(
  handle: Handle<Input>
): Handler<Input> => ({
  record: nothingRecorded,
  isAwaited: ({ pending }, input) => {
    const agent = underWay(pending)
    return agent._tag === "Agent" && agent.sessionId === input.sessionId
  },
  move: inPhase(handle)
})

/** A session ends: whoever waits for its agent waits in vain. */
const onSessionEnd = <Input extends SessionEnd>(): Handler<Input> => ({
  ...onAgent((_run, _phase, input: Input) => agentEnded(input)),
  record: sessionEnded
})

/** What closes the question that is open. */
const onQuestion = <Input>(
  closes: (question: Question, input: NoInfer<Input>) => boolean,
  handle: (run: Run, question: Question, input: Input) => Outcome
): Handler<Input> => ({
  record: nothingRecorded,
  isAwaited: ({ pending }, input) => pending._tag === "Answer" && closes(pending.question, input),
  move: (run, input) => (run.pending._tag === "Answer" ? handle(run, run.pending.question, input) : outcome([]))
})

const isOpen = (question: Question, input: InputOf<"AnswerReceived"> | InputOf<"EscalationWithdrawn">): boolean =>
  question.ask.escalationId === input.escalationId

/** Ignored as far as the machine goes: such an input is only recorded. */
const ignored = <Input>(record: Handler<Input>["record"]): Handler<Input> => ({
  record,
  isAwaited: () => false,
  move: () => outcome([])
})

/** An agent's own question: of the author's turn, of the review, or of an agent that works by itself. */
const mayPrompt = (run: Run, { sessionId }: InputOf<"AgentPrompting">): boolean => {
  const { pending, phase } = run
  const current = underWay(pending)
  switch (current._tag) {
    case "Turn":
      return current.sessionId === sessionId && !current.interrupted
    case "Review":
      return phase !== undefined && isReviewerOf(run, phase, sessionId) && current.interrupted !== true
    case "Agent":
      return current.sessionId === sessionId
    case "Workspace":
    case "Answer":
    case "Nothing":
      return false
  }
}

/** The refusal of what the run itself has asked for. */
const isOwnRefusal = (
  { pending }: Run,
  { code, command, escalationId, sessionId, turnId }: InputOf<"CommandRefused">
): boolean => {
  if (command === "RaiseEscalation") {
    if (pending._tag !== "Answer") return false
    const { ask } = pending.question
    // A closed question was answered or withdrawn: the gate tells that by itself.
    return code !== "closed" && (escalationId ?? ask.escalationId) === ask.escalationId
  }
  const current = underWay(pending)
  switch (current._tag) {
    case "Workspace":
      return command === current.command._tag
    case "Turn":
      return (
        (command === "StartTurn" || command === "ContinueSession") &&
        (turnId ?? current.turnId) === current.turnId &&
        (sessionId ?? current.sessionId) === current.sessionId
      )
    case "Review":
      return command === "RequestReview"
    case "Agent":
    case "Answer":
    case "Nothing":
      return false
  }
}

const workspaceFailed: Handler<InputOf<"WorkspaceFailed">> = {
  record: nothingRecorded,
  isAwaited: ({ pending }, { operation, phase }) => {
    const current = underWay(pending)
    if (current._tag !== "Workspace") return false
    const { command } = current
    // Late words of a host that is gone are about something else.
    if (command._tag === "PrepareWorkspace") return operation === command._tag
    return phase === undefined || !("phase" in command) || command.phase === phase
  },
  move: (run, { reason }) => {
    const current = underWay(run.pending)
    return current._tag === "Workspace" ? workspaceBroke(run, current.command, reason) : outcome([])
  }
}

export type Handlers = { readonly [Tag in HandledType]: Handler<InputOf<Tag>> }

export const handlers: Handlers = {
  WorkspacePrepared: onReport(
    "PrepareWorkspace",
    () => true,
    (_run, input) => workspacePrepared(input)
  ),
  WorkspaceRefused: onReport("PrepareWorkspace", () => true, workspaceRefused),
  WorkspaceFailed: workspaceFailed,
  CommitVerified: onReport(
    "VerifyCommit",
    verifiesCommit,
    inPhase((run, _phase, input) => commitVerified(run, input))
  ),
  CommitRejected: onReport("VerifyCommit", verifiesCommit, inPhase(commitRejected)),
  QualityPassed: onReport(
    "RunQualityGates",
    sameGates,
    inPhase((run, phase, input) =>
      input.checkpoint === undefined ? qualityPassed(input) : checkpointVerified(run, phase, input)
    ),
    refusedInGates
  ),
  QualityFailed: onReport(
    "RunQualityGates",
    sameGates,
    inPhase((run, phase, input) =>
      input.checkpoint === undefined ? qualityFailed(run, phase, input) : checkpointVerified(run, phase, input)
    ),
    refusedInGates
  ),
  ClaimsVerified: onReport(
    "VerifyClaims",
    samePhase,
    inPhase((_run, phase, input) => claimsVerified(phase, input))
  ),
  ClaimsRejected: onReport("VerifyClaims", samePhase, inPhase(claimsRejected)),
  PhaseFinished: onReport("FinishPhase", samePhase, inPhase(phaseFinished)),
  PhaseBlocked: onReport("FinishPhase", samePhase, inPhase(phaseBlocked)),
  ContinuationStateWritten: onReport("WriteContinuationState", samePhase, inPhase(stateWritten)),
  ContinuationVerified: onReport(
    "VerifyContinuation",
    samePhase,
    inPhase((_run, phase, input) => continuationVerified(phase, input))
  ),
  ContinuationRejected: onReport(
    "VerifyContinuation",
    samePhase,
    inPhase((_run, _phase, input) => continuationRejected(input))
  ),
  SummaryWritten: onReport("WriteSummary", samePhase, (run, { path, phase }) =>
    phase === undefined ? outcome(completeRun(run)) : phaseSummarised(phase, path)
  ),
  TurnCompleted: onTurnEnd(turnCompleted),
  TurnFailed: onTurnEnd((run, _phase, turn, input) => turnFailed(run, turn, input)),
  VerdictReached: onReview(verdictReached),
  ReviewFailed: onReview(reviewFailed),
  AgentWorking: {
    ...onQuestion<InputOf<"AgentWorking">>(
      (question, input) => input.cause !== "turn" && concerns(question, input.sessionId),
      agentWorking
    ),
    record: noteWorking
  },
  AgentIdle: { ...onAgent(agentIdle), record: noteResting },
  AgentGone: { ...onAgent((_run, _phase, input) => agentGone(input)), record: noteResting },
  AgentPrompting: {
    record: nothingRecorded,
    isAwaited: mayPrompt,
    move: inPhase((run, _phase, input) => agentPrompting(run, input))
  },
  AnswerReceived: onQuestion(isOpen, answerReceived),
  EscalationWithdrawn: onQuestion(isOpen, withdrawnByGate),
  CommandRefused: {
    record: (_run, { command, reason }) => [{ _tag: "Noted", text: `${command} was refused: ${reason}` }],
    isAwaited: isOwnRefusal,
    move: (run, input) =>
      run.pending._tag === "Answer" && input.command === "RaiseEscalation"
        ? questionRefused(run, run.pending.question, input)
        : commandRefused(run, underWay(run.pending), input)
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

export const isAwaited = <Tag extends HandledType>(run: Run, tag: Tag, input: InputOf<Tag>): boolean =>
  handlerOf(tag).isAwaited(run, input)

const moveOf = <Tag extends HandledType>(run: Run, tag: Tag, input: InputOf<Tag>): Outcome =>
  handlerOf(tag).move(run, input)

/** Everything that an awaited input leads to. */
export const actUpon = (before: Run, input: HandledInput): RunEvents => {
  const withdrawn = withdrawMootPrompt(before, input)
  const run = runAfter(before, withdrawn)
  return [...withdrawn, ...applyMoves(run, moveOf(run, input._tag, input))]
}

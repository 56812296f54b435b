/**
 * What a family gives to the machine: what its inputs lead to, what its events change in a run, and what is sent for them.
 * Each table of the machine is put together from the families' and has an entry for every input and every event, so that a
 * new one does not compile without.
 */
import { type SendCommand, send, type Tagged } from "@reprise/actor"
import type { CommandOf, IdOf, PhaseId, RunId, ServiceName, WorkspaceCommand } from "@reprise/protocol"
import type { InputOf, RunInput } from "./inputs.ts"
import type { EventOf, RunEvent, RunEvents, SentType } from "./journal.ts"
import type { Outcome } from "./moves.ts"
import type { Question } from "./question.ts"
import { type PhaseRun, type Run, workOf } from "./state.ts"

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
export type HandledType = Exclude<RunInput["_tag"], Control>
export type HandledInput = InputOf<HandledType>

/** Decides what an input leads to; undefined: the run waits for something else. */
export type Decide<Input> = (run: Run, input: Input) => Outcome | undefined

export interface Handler<Input> {
  /** Recorded whether or not the run waits for the input. */
  readonly record: (run: Run, input: Input) => RunEvents
  readonly move: Decide<Input>
}

export type Handlers = { readonly [Tag in HandledType]: Handler<InputOf<Tag>> }

export type Handle<Input> = (run: Run, phase: PhaseRun, input: Input) => Outcome
type AskedOf<Name extends WorkspaceCommand["_tag"]> = Extract<WorkspaceCommand, { readonly _tag: Name }>

export const nothingRecorded = (): RunEvents => []

/** In the phase that the input is about. */
export const inPhase =
  <Input extends { readonly phase: PhaseId }>(
    handle: (...all: Parameters<Handle<Input>>) => Outcome | undefined
  ): Decide<Input> =>
  (run, input) =>
    run.phase?.id === input.phase ? handle(run, run.phase, input) : undefined

const isCommand = <Name extends WorkspaceCommand["_tag"]>(
  command: WorkspaceCommand,
  name: Name
): command is AskedOf<Name> => command._tag === name

/** The workspace's report about the command of this name that the run waits for. */
export const onReport = <Name extends WorkspaceCommand["_tag"], Input>(
  name: Name,
  move: (run: Run, input: Input, command: AskedOf<Name>) => Outcome | undefined,
  record: Handler<NoInfer<Input>>["record"] = nothingRecorded
): Handler<Input> => ({
  record,
  move: (run, input) => {
    const command = workOf(run, "Workspace")?.command
    return command !== undefined && isCommand(command, name) ? move(run, input, command) : undefined
  }
})

/** What closes the question that is open. */
export const onQuestion = <Input>(
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

/** Ignored as far as the machine goes: such an input is only recorded. */
export const ignored = <Input>(record: Handler<Input>["record"]): Handler<Input> => ({ record, move: () => undefined })

/** How each journal event changes a run. */
export type Evolution = {
  readonly [Tag in RunEvent["_tag"]]: (run: Run, event: EventOf<Tag>) => Run
}

/** The fold of events that only tell others something. */
export const unchanged = (run: Run): Run => run

/** The commands that each event of the journal sends, and no other one does. */
interface CommandsFor extends Record<SentType, Tagged> {
  WorkspaceAsked: CommandOf<"workspace">
  AuthorAsked: CommandNamed<"session-manager", "StartTurn" | "ContinueSession">
  AuthorReplaced: CommandNamed<"session-manager", "ReleaseSession">
  TurnInterrupted: CommandNamed<"session-manager", "InterruptTurn">
  SessionReleased: CommandNamed<"session-manager", "CompleteSession">
  SessionStopped: CommandNamed<"session-manager", "AbortSession">
  PromptReplied: CommandNamed<"session-manager", "ReplyToPrompt">
  ReviewAsked: CommandNamed<"reviewer", "RequestReview">
  ReviewInterrupted: CommandNamed<"reviewer", "InterruptReview">
  ReviewClosed: CommandNamed<"reviewer", "CloseReview">
  ReviewMoved: CommandNamed<"reviewer", "MoveReview">
  QuestionAsked: CommandNamed<"gate", "RaiseEscalation">
  QuestionChanged: CommandNamed<"gate", "RaiseEscalation">
  QuestionWithdrawn: CommandNamed<"gate", "WithdrawEscalation">
}
type CommandNamed<Service extends ServiceName, Name extends CommandOf<Service>["_tag"]> = Extract<
  CommandOf<Service>,
  { readonly _tag: Name }
>

/** What is sent for the events of the journal that say so. */
export type Reactions = {
  readonly [Tag in SentType]: (runId: RunId, event: EventOf<Tag>) => ReadonlyArray<SendCommand<CommandsFor[Tag]>>
}

/** Sends a command exactly as it was journalled. */
export const asJournalled = <Service extends ServiceName, Command extends CommandOf<Service>>(
  service: Service,
  key: IdOf<Service>,
  command: Command
): SendCommand<Command> => send({ service, key, command })

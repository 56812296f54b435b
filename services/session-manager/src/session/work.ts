/** The work that a session asks of the host with its files and its runtime. */
import {
  PermissionMode,
  PhaseId,
  Role,
  RunId,
  RuntimeId,
  RuntimeName,
  SessionCommand,
  Step,
  TurnId,
  TurnLimits,
  Usage
} from "@reprise/protocol"
import { Schema } from "effect"
import { AgentQuestionKind, PromptIdentity, PromptKind } from "./journal.ts"

const onRuntime = { runtime: RuntimeName, directory: Schema.String, runtimeSessionId: RuntimeId } as const

/** `saved`: what was saved of the conversation before. What is new is saved under a name that begins with `object`. */
const saving = {
  object: Schema.String,
  saved: Schema.optionalKey(Schema.Struct({ object: Schema.String, messages: Schema.Int, digest: Schema.String }))
} as const

export const SessionWork = Schema.TaggedUnion({
  OpenSession: {
    turnId: TurnId,
    runtime: RuntimeName,
    directory: Schema.String,
    title: Schema.String,
    permissions: PermissionMode,
    role: Role,
    model: Schema.optionalKey(Schema.String),
    /** The saved transcript of the session that is replaced. */
    transcript: Schema.optionalKey(Schema.String),
    /** Of a fork: the point in another session from which on it goes its own way. */
    fork: SessionCommand.cases.StartSession.fields.fork,
    /** Its agent begins among what others may have left uncommitted: that is looked up, without the phase's review. */
    uncommitted: Schema.optionalKey(Schema.Struct({ reviewPath: Schema.optionalKey(Schema.String) }))
  },
  InspectSession: { turnId: TurnId, ...onRuntime },
  RunPrompt: {
    turnId: TurnId,
    /** The prompt is the n-th of its turn. */
    number: Schema.Int,
    ...onRuntime,
    runId: RunId,
    phase: Schema.optionalKey(PhaseId),
    step: Schema.optionalKey(Step),
    role: Role,
    kind: PromptKind,
    identity: PromptIdentity,
    text: Schema.String,
    model: Schema.optionalKey(Schema.String),
    variant: Schema.optionalKey(Schema.String),
    /** As in `StartTurn`. */
    instructionsFrom: Schema.optionalKey(Schema.String),
    permissions: PermissionMode,
    limits: TurnLimits,
    /** What the turn used before this prompt. */
    usedBefore: Usage,
    /** What is counted of the runtime's total: this prompt uses what comes on top. */
    counted: Usage,
    /** When the turn began, ISO 8601: for the wall limit. */
    turnStartedAt: Schema.String,
    /** How much of the time since then it waited for humans or for failures that pass by themselves. */
    turnWaitedMs: Schema.Finite,
    /** Where what is said meanwhile is saved. `since`: when that was done last, ISO 8601. */
    saving: Schema.Struct({ ...saving, since: Schema.String })
  },
  /** Saves what was said since the last time. */
  SaveNewMessages: { ...onRuntime, ...saving },
  /** Saves the whole conversation under this name. `stop`: whatever still runs in the session is stopped first. */
  SaveTranscript: {
    ...onRuntime,
    object: Schema.String,
    stop: Schema.Boolean,
    /** What the session used in earlier runtime sessions. */
    usedEarlier: Usage,
    /** What of the runtime's total was used in the session that it is a fork of. */
    inherited: Schema.optionalKey(Usage)
  },
  /** Stops whatever runs in the session. `turnId`: the turn that waits to be told when nothing does; `text`: its prompt. */
  InterruptSession: { ...onRuntime, turnId: Schema.optionalKey(TurnId), text: Schema.optionalKey(Schema.String) },
  /** A human has left the session: nobody waits for the grace any more. */
  HandBack: {},
  SendReply: {
    ...onRuntime,
    promptId: Schema.String,
    kind: AgentQuestionKind,
    /** What was asked. */
    text: Schema.optionalKey(Schema.String),
    reply: Schema.String,
    message: Schema.optionalKey(Schema.String)
  }
})
export type SessionWork = typeof SessionWork.Type
export type WorkOf<Tag extends SessionWork["_tag"]> = Extract<SessionWork, { readonly _tag: Tag }>

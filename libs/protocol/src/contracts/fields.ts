/** The fields that messages of several services share. */
import { Effect, Schema } from "effect"
import { anyHost, EscalationId, Host, PhaseId, RunId, SessionId, TurnId } from "../ids.ts"
import { PermissionMode, Role, RuntimeName, SessionPrompts, Step, TurnLimits } from "../model.ts"

/** Fields of commands to agents: where the agent works, and what it may do. */
export const host = Host.pipe(Schema.withDecodingDefaultKey(Effect.succeed(anyHost)))
/** Absolute path of the working tree on the host; empty: where the host's agent server works. */
export const directory = Schema.String.pipe(Schema.withDecodingDefaultKey(Effect.succeed("")))
export const permissions = PermissionMode.pipe(Schema.withDecodingDefaultKey(Effect.succeed("ask" as const)))

/** What an agent is to do in a standalone session: the fields of the commands that start one. */
export const standaloneTask = {
  prompt: Schema.String,
  runtime: RuntimeName,
  model: Schema.optionalKey(Schema.String),
  /** As in `AgentChoice`. */
  variant: Schema.optionalKey(Schema.String),
  directory,
  host,
  permissions,
  prompts: Schema.optionalKey(SessionPrompts),
  /** `maxTokens` is the budget of the whole session here. */
  limits: TurnLimits.pipe(Schema.withDecodingDefaultKey(Effect.succeed({}))),
  /** Milliseconds for which a turn that should be under way may be missing before a human is asked; 0: off. Absent: 10 minutes. */
  stuckAfterMs: Schema.optionalKey(Schema.Int)
} as const

/** Fields of public events: where in a run something happened. Absent fields do not apply. */
export const at = {
  runId: RunId,
  phase: Schema.optionalKey(PhaseId),
  step: Schema.optionalKey(Step),
  sessionId: Schema.optionalKey(SessionId),
  turnId: Schema.optionalKey(TurnId)
} as const
export const atSession = { ...at, sessionId: SessionId, role: Schema.optionalKey(Role) } as const
export const atTurn = { ...atSession, turnId: TurnId } as const
export const atPhase = { ...at, phase: PhaseId } as const

/**
 * A service's answer to a command that it refuses. It repeats the ids of the turn, session, phase or question that the
 * command named, so that nobody takes it for the answer to a later command.
 */
export const CommandRefused = {
  ...at,
  escalationId: Schema.optionalKey(EscalationId),
  command: Schema.String,
  /** One of the service's refusal codes (`refusals` of its contract). */
  code: Schema.optionalKey(Schema.String),
  /** A sentence with the next step. */
  reason: Schema.String
} as const

/**
 * What the gate accepts, publishes and shows: questions to humans and their answers (docs/design/gate.md). The codes of
 * its refusals are at the end.
 */
import { Effect, Schema, Struct } from "effect"
import { EscalationId, PhaseId, RunId, SessionId } from "../ids.ts"
import { EscalationOption, EscalationOrigin, Evidence, Item, RuntimeName, Step, WithdrawalReason } from "../model.ts"
import { caused, contract } from "./Contract.ts"
import { at, CommandRefused } from "./fields.ts"

/** The fields of a question: what is asked, and where in the run. */
const question = {
  escalationId: EscalationId,
  runId: RunId,
  phase: Schema.optionalKey(PhaseId),
  step: Schema.optionalKey(Step),
  sessionId: Schema.optionalKey(SessionId),
  origin: EscalationOrigin,
  reason: Schema.String,
  options: Schema.Array(EscalationOption),
  items: Schema.optionalKey(Schema.Array(Item))
} as const

/** What an answer named of the agent that takes over. */
const namedAgent = {
  runtime: Schema.optionalKey(RuntimeName),
  model: Schema.optionalKey(Schema.String),
  /** As in `AgentChoice`. */
  variant: Schema.optionalKey(Schema.String)
} as const

/** Key: escalation id. */
export const EscalationCommand = Schema.TaggedUnion({
  RaiseEscalation: {
    ...question,
    evidence: Evidence.pipe(Schema.withDecodingDefaultKey(Effect.succeed({})))
  },
  AnswerEscalation: {
    escalationId: EscalationId,
    choice: Schema.String,
    guidance: Schema.optionalKey(Schema.String),
    by: Schema.String,
    via: Schema.String,
    /** The commit that the answerer was shown. When given, an answer for any other commit is refused. */
    commit: Schema.optionalKey(Schema.String),
    /**
     * Where the option takes an agent: the runtime, the model and its variant of the fresh author, for the rest of the
     * phase. A runtime alone has its own model, or the run's if it is the run's runtime; a model alone is one of the
     * author's runtime, a variant alone one of the author's model.
     */
    runtime: Schema.optionalKey(Schema.String),
    model: Schema.optionalKey(Schema.String),
    variant: Schema.optionalKey(Schema.String)
  },
  WithdrawEscalation: {
    escalationId: EscalationId,
    reason: WithdrawalReason
  }
})
export type EscalationCommand = typeof EscalationCommand.Type

export const gateEvents = {
  EscalationRaised: {
    ...at,
    escalationId: EscalationId,
    origin: EscalationOrigin,
    reason: Schema.String,
    options: Schema.Array(EscalationOption),
    items: Schema.optionalKey(Schema.Array(Item)),
    evidence: Evidence
  },
  EscalationAnswered: {
    ...at,
    escalationId: EscalationId,
    choice: Schema.String,
    guidance: Schema.optionalKey(Schema.String),
    ...namedAgent,
    by: Schema.String,
    via: Schema.String,
    /** The commit that the answerer was shown, where the channel says so. */
    commit: Schema.optionalKey(Schema.String)
  },
  EscalationWithdrawn: {
    ...at,
    escalationId: EscalationId,
    reason: WithdrawalReason
  },
  /**
   * The run had withdrawn the question before it heard of this answer, and went on without it. Its agents are told the
   * guidance in their next prompts, unless the run has ended, or the guidance is the reason of an abort or override.
   */
  EscalationOverruled: {
    ...at,
    escalationId: EscalationId,
    choice: Schema.String,
    guidance: Schema.optionalKey(Schema.String),
    by: Schema.String,
    via: Schema.String,
    reason: WithdrawalReason
  },
  /** The question is still open and unchanged; for channels that notify a human. */
  EscalationReminded: {
    ...at,
    escalationId: EscalationId,
    /** ISO 8601: when the question was raised. */
    openSince: Schema.String,
    /** Which reminder this is, from 1. */
    count: Schema.Int
  }
} as const
export const GateEvent = Schema.TaggedUnion({ ...gateEvents, CommandRefused })

export const EscalationView = Schema.Struct({
  ...question,
  evidence: Evidence,
  raisedAt: Schema.String,
  state: Schema.Literals(["open", "answered", "withdrawn"]),
  /** The channels for notifications that are to be told of the open question and have not been, yet or at all. */
  notNotified: Schema.optionalKey(Schema.Array(Schema.String)),
  /** How it was closed. */
  choice: Schema.optionalKey(Schema.String),
  guidance: Schema.optionalKey(Schema.String),
  ...namedAgent,
  by: Schema.optionalKey(Schema.String),
  via: Schema.optionalKey(Schema.String),
  /** The commit that the answerer was shown, where the channel says so. */
  commit: Schema.optionalKey(Schema.String),
  withdrawnFor: Schema.optionalKey(WithdrawalReason),
  /** Why the run went on without the answer. */
  overruledFor: Schema.optionalKey(WithdrawalReason),
  closedAt: Schema.optionalKey(Schema.String)
})
export type EscalationView = typeof EscalationView.Type

/** A question as a line of a long list. A long reason is cut. */
export const EscalationLine = Schema.Struct({
  ...Struct.pick(EscalationView.fields, ["escalationId", "runId", "phase", "step", "origin", "reason", "raisedAt"]),
  planPath: Schema.optionalKey(Schema.String),
  /** The keys of its options, or their names where they have none. */
  choices: Schema.String.pipe(Schema.withDecodingDefaultKey(Effect.succeed("")))
})
export type EscalationLine = typeof EscalationLine.Type

export const gate = contract({
  service: "gate",
  actor: "escalation",
  key: EscalationId,
  keyField: "escalationId",
  commands: EscalationCommand,
  events: GateEvent,
  view: EscalationView,
  refusals: [
    "unreadable",
    "misaddressed",
    "not-found",
    "no-options",
    "another-run",
    "closed",
    "another-commit",
    "not-an-option",
    "not-offered",
    "guidance-required",
    "unusable-agent"
  ],
  outcomes: {
    RaiseEscalation: caused("EscalationRaised"),
    AnswerEscalation: caused("EscalationAnswered"),
    WithdrawEscalation: caused("EscalationWithdrawn")
  }
})

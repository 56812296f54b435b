/**
 * The options of a run, decided once when it starts and carried in `StartRun`: services read no configuration files.
 * Every field has a default, so that `{}` is a run with default behaviour.
 */
import { Effect, Schema } from "effect"
import { FixerOptions, RoleOptions } from "./agents.ts"
import { PhaseId } from "./ids.ts"
import { PermissionMode, RuntimeName, type TurnLimits } from "./model.ts"

const count = (value: number) =>
  Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)).pipe(Schema.withDecodingDefaultKey(Effect.succeed(value)))
const flag = (value: boolean) => Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(value)))

/** The limits of a run. Durations in milliseconds; 0 switches a duration or budget off. */
export const RunLimits = Schema.Struct({
  maxReviewIterations: count(5),
  maxQualityRetries: count(3),
  maxAutoRetries: count(3),
  maxStepVisits: count(20),
  maxStepsPerRun: count(250),
  maxContinuations: count(20),
  turnInactivityMs: count(15 * 60_000),
  turnWallMs: count(0),
  /** Tool rounds of a turn; one that reaches the limit continues by itself. 0: the runtime's own limit, which Claude has (20). */
  maxAgentTurns: count(0),
  /** Guards against an agent that never ends, far above any honest turn; tokens from the vendor's cache do not count. */
  maxTurnCalls: count(1000),
  maxTurnTokens: count(50_000_000),
  /** In auto mode, in place of the session-manager's limit: how long a turn waits for a rate limit, credit or the network. */
  unattendedWaitMs: count(24 * 60 * 60_000),
  /** How long a run may wait for what is not under way before it asks. */
  stuckAfterMs: count(10 * 60_000),
  tokenBudget: count(0),
  costBudget: Schema.Finite.pipe(Schema.withDecodingDefaultKey(Effect.succeed(0)))
})
export type RunLimits = typeof RunLimits.Type

const limit = <Name extends keyof TurnLimits>(name: Name, value: number) => (value > 0 ? { [name]: value } : {})

/** The limits of each turn. What 0 switches off in a run has no limit here. Budgets are not a turn's: they are told beside. */
export const turnLimitsOf = (limits: RunLimits): TurnLimits => ({
  ...limit("inactivityMs", limits.turnInactivityMs),
  ...limit("wallMs", limits.turnWallMs),
  ...limit("maxAgentTurns", limits.maxAgentTurns),
  ...limit("maxCalls", limits.maxTurnCalls),
  ...limit("maxTurnTokens", limits.maxTurnTokens)
})

/** The budgets of a run as the limits of a turn that may use all of them. */
export const budgetLimitsOf = ({ costBudget, tokenBudget }: RunLimits): TurnLimits => ({
  ...limit("maxTokens", tokenBudget),
  ...limit("maxCost", costBudget)
})

export const GateOptions = Schema.Struct({
  /** Commands that must exit 0, run in order. */
  quality: Schema.Array(Schema.String).pipe(Schema.withDecodingDefaultKey(Effect.succeed([]))),
  qualityTimeoutMs: count(300_000),
  /** Commands that verify a human-verify checkpoint in place of a human; without any, the run waits for a human. */
  verify: Schema.Array(Schema.String).pipe(Schema.withDecodingDefaultKey(Effect.succeed([]))),
  /** Names of more variables that the commands see. */
  environment: Schema.Array(Schema.String).pipe(Schema.withDecodingDefaultKey(Effect.succeed([]))),
  phase: Schema.Literals(["auto", "human"]).pipe(Schema.withDecodingDefaultKey(Effect.succeed("auto" as const)))
})
export type GateOptions = typeof GateOptions.Type

/**
 * When no human chooses, whether the author continues its session or a fresh author takes over from the record
 * (docs/design/continuation.md#the-prompt): fresh, if any of these limits is exceeded. 0 switches a limit off.
 */
export const ContinuationOptions = Schema.Struct({
  /** What auto mode does where a human would be asked: `fresh` acts as `fix`, `continue` as continue if the session allows it. */
  unattended: Schema.Literals(["fresh", "continue"]).pipe(
    Schema.withDecodingDefaultKey(Effect.succeed("fresh" as const))
  ),
  /** Part of the model's context window, from 0 to 1. */
  maxContextFill: Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 })).pipe(
    Schema.withDecodingDefaultKey(Effect.succeed(0.85))
  ),
  /** Tokens of a model's context window, if the runtime does not report it. */
  contextWindow: count(200_000),
  maxSessionAgeMs: count(24 * 60 * 60_000),
  /** How many continued turns of a phase may fail. */
  maxFailed: count(1)
})
export type ContinuationOptions = typeof ContinuationOptions.Type

export const RunOptions = Schema.Struct({
  auto: flag(false),
  worktree: flag(false),
  allowDirty: flag(false),
  skipQuality: flag(false),
  startPhase: Schema.optionalKey(PhaseId),
  runtime: RuntimeName.pipe(Schema.withDecodingDefaultKey(Effect.succeed("opencode" as const))),
  /** `provider/model`; absent: the runtime's own default. */
  model: Schema.optionalKey(Schema.String),
  reviewerModel: Schema.optionalKey(Schema.String),
  /** Absent: the author's. */
  reviewerRuntime: Schema.optionalKey(RuntimeName),
  author: RoleOptions.pipe(Schema.withDecodingDefaultKey(Effect.succeed({}))),
  reviewer: RoleOptions.pipe(Schema.withDecodingDefaultKey(Effect.succeed({}))),
  /** Who fixes what quality gates and reviews found. */
  fixer: FixerOptions.pipe(Schema.withDecodingDefaultKey(Effect.succeed({}))),
  permissions: PermissionMode.pipe(Schema.withDecodingDefaultKey(Effect.succeed("ask" as const))),
  gates: GateOptions.pipe(Schema.withDecodingDefaultKey(Effect.succeed({}))),
  limits: RunLimits.pipe(Schema.withDecodingDefaultKey(Effect.succeed({}))),
  continuation: ContinuationOptions.pipe(Schema.withDecodingDefaultKey(Effect.succeed({}))),
  /** Template of review file paths; `{plan}` and `{phase}` are filled in. */
  reviewPath: Schema.String.pipe(
    Schema.withDecodingDefaultKey(Effect.succeed("docs/reviews/{plan}-phase-{phase}-review.md"))
  ),
  /** Commands for a new worktree. */
  postCreate: Schema.Array(Schema.String).pipe(Schema.withDecodingDefaultKey(Effect.succeed([]))),
  /** Overrides of prompt templates by name. */
  prompts: Schema.Record(Schema.String, Schema.String).pipe(Schema.withDecodingDefaultKey(Effect.succeed({})))
})
export type RunOptions = typeof RunOptions.Type

export const defaultRunOptions: RunOptions = Schema.decodeSync(RunOptions)({})

/**
 * Every setting of `reprise.toml`, once: its type, default and meaning. The loader, environment overrides,
 * `config explain`, the JSON schema and the reference are all made from this table.
 */
import { defaultRunOptions, PermissionMode, RuntimeName } from "@reprise/protocol"
import {
  ErrorActions,
  GoneActions,
  IdleActions,
  PromptActions,
  defaultSettings as sessionDefaults
} from "@reprise/session-manager/settings"
import { Schema } from "effect"

export interface Setting {
  /** Dotted path in the file: `gates.quality`. */
  readonly path: string
  readonly schema: Schema.Codec<unknown, unknown>
  /** undefined: unset. */
  readonly fallback: unknown
  /** A value to show where there is no default. */
  readonly example?: unknown
  readonly description: string
}

const count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const amount = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))
const text = Schema.NonEmptyString
const port = count.check(Schema.isLessThanOrEqualTo(65_535))
const insideRepository = text.check(
  Schema.makeFilter((path) => !/^[/\\]|(^|[/\\])\.\.([/\\]|$)/.test(path) || "Expected a path inside the repository")
)
const lines = Schema.Array(Schema.NonEmptyString)

const setting = <A, I>(path: string, schema: Schema.Codec<A, I>, fallback: A, description: string): Setting => ({
  path,
  schema,
  fallback,
  description
})

/** Without a default. */
const unset = <A, I>(path: string, schema: Schema.Codec<A, I>, example: A, description: string): Setting => ({
  path,
  schema,
  fallback: undefined,
  example,
  description
})

const { continuation, gates, limits } = defaultRunOptions
const { onError, onGone, onIdle, onPrompt } = sessionDefaults.actions

export const settings: ReadonlyArray<Setting> = [
  setting("runtime", RuntimeName, defaultRunOptions.runtime, "What hosts the agents' sessions."),
  unset(
    "model",
    text,
    "anthropic/claude-sonnet-4-5",
    "provider/model of the author; unset: the runtime's own default."
  ),
  unset("reviewerModel", text, "openai/gpt-5", "provider/model of the reviewer; unset: as the author."),
  setting(
    "permissions",
    PermissionMode,
    defaultRunOptions.permissions,
    "ask: every permission is asked. workspace: file tools inside the workspace are approved. all: nothing is asked."
  ),
  setting(
    "reviewPath",
    insideRepository,
    defaultRunOptions.reviewPath,
    "Where reviews are written; {plan}, the name of the plan's file, and {phase} are filled in."
  ),
  setting("gates.quality", lines, gates.quality, "Commands that must exit 0 after the author's work, run in order."),
  setting("gates.qualityTimeoutMs", count, gates.qualityTimeoutMs, "Milliseconds a quality gate may take."),
  setting(
    "gates.verify",
    lines,
    gates.verify,
    "Commands that verify a human-verify checkpoint under --auto; none: a human is waited for."
  ),
  setting("gates.phase", Schema.Literals(["auto", "human"]), gates.phase, "human: ask before a phase is completed."),
  setting("limits.maxReviewIterations", count, limits.maxReviewIterations, "Review cycles per phase."),
  setting("limits.maxQualityRetries", count, limits.maxQualityRetries, "Attempts to fix failed quality gates."),
  setting("limits.maxAutoRetries", count, limits.maxAutoRetries, "Retries per phase without a human, under --auto."),
  setting("limits.maxStepVisits", count, limits.maxStepVisits, "Visits of one step in one phase (circuit breaker)."),
  setting("limits.maxStepsPerRun", count, limits.maxStepsPerRun, "Steps of a run (circuit breaker)."),
  setting("limits.maxContinuations", count, limits.maxContinuations, "Fresh authors after checkpoints, per phase."),
  setting(
    "limits.turnInactivityMs",
    count,
    limits.turnInactivityMs,
    "Milliseconds without activity that end a turn; 0: off."
  ),
  setting(
    "limits.turnWallMs",
    count,
    limits.turnWallMs,
    "Milliseconds a turn may take in all, without what it waits for humans and rate limits; 0: off."
  ),
  setting(
    "limits.maxAgentTurns",
    count,
    limits.maxAgentTurns,
    "Tool rounds after which Claude is stopped and goes on by itself; 0: its runtime's own limit."
  ),
  setting("limits.tokenBudget", count, limits.tokenBudget, "Tokens a run may use; 0: off."),
  setting("limits.costBudget", amount, limits.costBudget, "US dollars a run may cost; 0: off."),
  setting(
    "continuation.unattended",
    Schema.Literals(["fresh", "continue"]),
    continuation.unattended,
    "What --auto does where you would be asked. fresh: a new session. continue: the same one, where it is sound."
  ),
  setting(
    "continuation.maxContextFill",
    Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 })),
    continuation.maxContextFill,
    "Part of the model's context, from 0 to 1, above which a fresh author goes on; 0: off."
  ),
  setting(
    "continuation.contextWindow",
    count,
    continuation.contextWindow,
    "Tokens of the model's context where the runtime does not tell; 0: unknown."
  ),
  setting(
    "continuation.maxSessionAgeMs",
    count,
    continuation.maxSessionAgeMs,
    "Milliseconds after which a fresh author goes on in place of the session; 0: off."
  ),
  setting(
    "continuation.maxFailed",
    count,
    continuation.maxFailed,
    "Failed continued turns of a phase after which a fresh author goes on; 0: off."
  ),
  setting("workspace.worktree", Schema.Boolean, defaultRunOptions.worktree, "Run in a git worktree of its own."),
  setting("workspace.postCreate", lines, defaultRunOptions.postCreate, "Commands run in a new worktree."),
  setting(
    "sessions.idleAfterMs",
    count,
    sessionDefaults.idleAfterMs,
    "Milliseconds without a turn after which a session is paused."
  ),
  setting(
    "sessions.expireAfterMs",
    count,
    sessionDefaults.expireAfterMs,
    "Milliseconds after which a paused session that nothing needs any more expires."
  ),
  setting(
    "sessions.maxWaitMs",
    count,
    sessionDefaults.maxWaitMs,
    "Milliseconds that a turn waits in all for a rate limit, for credit or for the network before you are asked."
  ),
  setting(
    "sessions.maxAutoContinues",
    count,
    sessionDefaults.maxAutoContinues,
    "How often a turn that met the runtime's own limit goes on by itself."
  ),
  setting(
    "sessions.idleGraceMs",
    count,
    sessionDefaults.idleGraceMs,
    "Milliseconds without a sign of life after which an agent that somebody else made work is taken to be idle."
  ),
  setting(
    "sessions.onIdle",
    IdleActions,
    onIdle,
    "What is done, in this order, about an agent that stopped without its report: nudge, report, escalate, fail."
  ),
  setting(
    "sessions.onGone",
    GoneActions,
    onGone,
    "What is done about an agent whose runtime did not come back: continue, escalate, fail."
  ),
  setting(
    "sessions.onPrompt",
    PromptActions,
    onPrompt,
    "What is done when an agent asks for a permission or asks a question: escalate, approve, reject."
  ),
  setting(
    "sessions.onError",
    Schema.Struct({
      rate_limited: Schema.optionalKey(ErrorActions),
      out_of_credits: Schema.optionalKey(ErrorActions),
      no_internet: Schema.optionalKey(ErrorActions),
      unauthorized: Schema.optionalKey(ErrorActions),
      other: Schema.optionalKey(ErrorActions)
    }),
    onError,
    "What is done about an agent whose model fails, by kind: wait, continue, escalate, fail."
  ),
  unset("nats.url", text, "nats://127.0.0.1:4222", "A NATS server to use instead of the embedded one."),
  unset("nats.credentials", text, "/home/me/reprise.creds", "Path of the credentials file for nats.url."),
  setting("nats.prefix", text, "reprise", "First token of every subject."),
  setting("nats.port", port, 0, "Port of the embedded server; 0: any free one."),
  unset(
    "nats.storeMaxBytes",
    count,
    4_294_967_296,
    "Disk quota of the embedded server in bytes; unset: 4 GiB, or half of what is free."
  ),
  unset(
    "opencode.url",
    text,
    "http://127.0.0.1:4096",
    "A running OpenCode server to use; its password comes from OPENCODE_SERVER_PASSWORD."
  ),
  setting(
    "log.level",
    Schema.Literals(["Debug", "Info", "Warn", "Error"]),
    "Info",
    "What goes to .reprise/logs/reprise.log."
  )
]

/** `gates.qualityTimeoutMs` → `REPRISE_GATES_QUALITY_TIMEOUT_MS`. */
export const environmentName = (path: string): string =>
  `REPRISE_${path
    .replace(/([a-z])([A-Z])/g, "$1_$2")
    .replaceAll(".", "_")
    .toUpperCase()}`

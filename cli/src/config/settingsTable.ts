/**
 * Every setting of `reprise.toml`, once: its type, default and meaning. The type `Settings`, the loader, environment
 * overrides, `config explain`, the JSON schema and the reference are all made from this table.
 */
import { ChannelTable, defaultReminders, QuietHours } from "@reprise/gate/notifications"
import { defaultRunOptions, PermissionMode } from "@reprise/protocol"
import {
  ErrorActions,
  GoneActions,
  IdleActions,
  PromptActions,
  defaultSettings as sessionDefaults
} from "@reprise/session-manager/settings"
import { Duration, Schema } from "effect"
import { agentSettings } from "./agentSettings.ts"
import { runtimeMeaning, runtimeName } from "./runtimeName.ts"
import { sandboxSettings } from "./sandboxSettings.ts"
import {
  adding,
  addresses,
  amount,
  commands,
  count,
  files,
  fraction,
  insideRepository,
  lines,
  port,
  type Row,
  setting,
  text,
  unquoted,
  unset,
  variableNames
} from "./settingRows.ts"
import { webSettings } from "./webSettings.ts"

/** Settings that are written below another name than their path, because other sections stand there too. */
const writtenAs: Readonly<Record<string, string>> = { permissions: "permissions.mode" }

const { continuation, gates, limits } = defaultRunOptions
const { onError, onGone, onIdle, onPrompt } = sessionDefaults.actions

const table = {
  runtime: setting(runtimeName, defaultRunOptions.runtime, runtimeMeaning),
  model: unset(text, "anthropic/claude-sonnet-4-5", "provider/model of the author; unset: the runtime's own default."),
  reviewerModel: unset(
    text,
    "openai/gpt-5",
    "provider/model of the reviewer; unset: the author's, or the default of another runtime."
  ),
  reviewerRuntime: unset(
    runtimeName,
    "claude",
    "Agent runtime of the reviewer, for a review by another vendor; unset: the author's."
  ),
  permissions: setting(
    PermissionMode,
    defaultRunOptions.permissions,
    "ask: you are asked for every permission, but not for what runs in the sandbox. workspace: file tools inside the workspace are approved. all: everything is approved. Rules come before it; beside them write it as mode in the section [permissions]."
  ),
  reviewPath: setting(
    insideRepository,
    defaultRunOptions.reviewPath,
    "Where reviews are written; {plan} stands for the plan's file name, {phase} for the phase."
  ),
  ...agentSettings,
  "permissions.allow": {
    commands: setting(
      commands,
      [],
      "Commands that need no question. 'npm test' is exactly that, 'npm test *' with any words after it. A chain needs a rule for each of its commands; what redirects, substitutes or expands needs a question."
    ),
    files: setting(
      files,
      [],
      "Files that agents' file tools may read and change without a question: in the repository, from / or from ~/, with * and ** as in .gitignore. Files that grant permissions stay a question."
    ),
    addresses: setting(
      addresses,
      [],
      "Servers from which agents may fetch pages without a question: example.org, *.example.org or example.org:8080."
    )
  },
  "permissions.ask": {
    commands: adding(
      setting(
        commands,
        [],
        "Commands that are a question in every mode, in the sandbox too, wherever they stand in a chain."
      )
    ),
    files: adding(setting(files, [], "Files that file tools must ask for in every mode.")),
    addresses: adding(setting(addresses, [], "Servers that are a question in every mode."))
  },
  "permissions.deny": {
    commands: adding(
      setting(commands, [], "Commands that agents may not run in any mode, wherever they stand in a chain.")
    ),
    files: adding(
      setting(files, [], "Files that file tools may neither read nor change. For commands see sandbox.deny.")
    ),
    addresses: adding(
      setting(
        addresses,
        [],
        "Servers from which agents may not fetch pages. Sandboxed commands may not reach them either, and raise no question, unless sandbox.network has them."
      )
    )
  },
  gates: {
    quality: setting(lines, gates.quality, "Commands that must exit 0 after the author's work, run in order."),
    qualityTimeoutMs: setting(count, gates.qualityTimeoutMs, "Milliseconds that a quality gate may take."),
    verify: setting(
      lines,
      gates.verify,
      "Commands that verify a human-verify checkpoint under --auto; none: the checkpoint waits for a human."
    ),
    environment: setting(
      variableNames,
      gates.environment,
      "Names of more environment variables that quality gates and workspace.postCreate see. They see PATH, HOME, the language, the terminal, folders of tools and the like, but no keys or tokens."
    ),
    phase: setting(Schema.Literals(["auto", "human"]), gates.phase, "human: ask before a phase is completed.")
  },
  limits: {
    maxReviewIterations: setting(count, limits.maxReviewIterations, "Review cycles per phase."),
    maxQualityRetries: setting(count, limits.maxQualityRetries, "Attempts to fix failed quality gates."),
    maxAutoRetries: setting(count, limits.maxAutoRetries, "Retries per phase without a human, under --auto."),
    maxStepVisits: setting(count, limits.maxStepVisits, "How often one step may start in a phase (circuit breaker)."),
    maxStepsPerRun: setting(count, limits.maxStepsPerRun, "Steps that a run may take (circuit breaker)."),
    maxContinuations: setting(count, limits.maxContinuations, "Fresh authors after checkpoints, per phase."),
    turnInactivityMs: setting(
      count,
      limits.turnInactivityMs,
      "Milliseconds without activity after which a turn is ended; 0: off."
    ),
    turnWallMs: setting(
      count,
      limits.turnWallMs,
      "Milliseconds a turn may take in total, not counting waits for humans, their own work in the session, and rate limits; 0: off."
    ),
    maxAgentTurns: setting(
      count,
      limits.maxAgentTurns,
      "Tool rounds after which an agent is interrupted and continued automatically; 0: the runtime's own limit, which is 20 on Claude and none on OpenCode. Agents by their command cannot be limited."
    ),
    maxTurnCalls: setting(
      count,
      limits.maxTurnCalls,
      "Calls of the model in one turn after which it is ended and you are asked; 0: off."
    ),
    maxTurnTokens: setting(
      count,
      limits.maxTurnTokens,
      "Tokens in one turn, those from the vendor's cache not counted, after which it is ended and you are asked; 0: off."
    ),
    unattendedWaitMs: setting(
      count,
      limits.unattendedWaitMs,
      "Milliseconds a turn waits in total for rate limits, credit or the network under --auto, in place of sessions.maxWaitMs; 0: use sessions.maxWaitMs."
    ),
    stuckAfterMs: setting(
      count,
      limits.stuckAfterMs,
      "Milliseconds after which a run asks you if the work that it waits for is lost; 0: off."
    ),
    tokenBudget: setting(count, limits.tokenBudget, "Tokens a run may use; 0: off."),
    costBudget: setting(amount, limits.costBudget, "US dollars a run may cost; 0: off.")
  },
  continuation: {
    unattended: setting(
      Schema.Literals(["fresh", "continue"]),
      continuation.unattended,
      "What --auto does in place of asking you. fresh: start a new session. continue: keep the session if it is usable."
    ),
    maxContextFill: setting(
      fraction,
      continuation.maxContextFill,
      "How full the model's context may get, from 0 to 1, before a fresh author, or reviewer, takes over; 0: off."
    ),
    contextWindow: setting(
      count,
      continuation.contextWindow,
      "Size of the model's context in tokens, if the runtime does not report it; 0: unknown."
    ),
    maxSessionAgeMs: setting(
      count,
      continuation.maxSessionAgeMs,
      "Age of a session in milliseconds after which a fresh author, or reviewer, takes over; 0: off."
    ),
    maxFailed: setting(
      count,
      continuation.maxFailed,
      "Continued turns that may fail in a phase before a fresh author takes over; 0: off."
    )
  },
  sandbox: sandboxSettings,
  workspace: {
    worktree: setting(Schema.Boolean, defaultRunOptions.worktree, "Run in a separate git worktree."),
    postCreate: setting(lines, defaultRunOptions.postCreate, "Commands to run in a new worktree.")
  },
  sessions: {
    idleAfterMs: setting(
      count,
      Duration.toMillis(sessionDefaults.idleAfter),
      "Milliseconds without a turn after which a session is paused."
    ),
    expireAfterMs: setting(
      count,
      Duration.toMillis(sessionDefaults.expireAfter),
      "Milliseconds after which a paused session expires if nothing needs it."
    ),
    expireHeldAfterMs: setting(
      count,
      Duration.toMillis(sessionDefaults.expireHeldAfter),
      "Milliseconds after which a paused session expires even if its phase or an open question may need it; 0: never."
    ),
    saveEveryMs: setting(
      count,
      Duration.toMillis(sessionDefaults.saveEvery),
      "Milliseconds after which a conversation is saved again while its agent works; 0: only at the end of a turn."
    ),
    maxWaitMs: setting(
      count,
      Duration.toMillis(sessionDefaults.maxWait),
      "Milliseconds a turn waits in total for rate limits, credit or the network before you are asked."
    ),
    maxAutoContinues: setting(
      count,
      sessionDefaults.maxAutoContinues,
      "How often a turn that reached the runtime's own limit is continued automatically."
    ),
    idleGraceMs: setting(
      count,
      Duration.toMillis(sessionDefaults.idleGrace),
      "Milliseconds without activity after which an agent that you prompted yourself counts as idle."
    ),
    report: setting(
      Schema.Literals(["with-work", "asked"]),
      sessionDefaults.report,
      "How agents report: at the end of their work (with-work), or in a second prompt (asked), which costs a call of the model for each turn."
    ),
    onIdle: setting(
      IdleActions,
      onIdle,
      "Actions, in this order, when an agent stops without its report: nudge, report, escalate, fail."
    ),
    onGone: setting(
      GoneActions,
      onGone,
      "Actions when an agent's runtime disappears and does not come back: continue, escalate, fail."
    ),
    onPrompt: setting(
      PromptActions,
      onPrompt,
      "Actions when an agent asks for a permission or asks a question: escalate, approve, reject."
    ),
    onError: setting(
      Schema.Struct({
        rate_limited: Schema.optionalKey(ErrorActions),
        out_of_credits: Schema.optionalKey(ErrorActions),
        no_internet: Schema.optionalKey(ErrorActions),
        unauthorized: Schema.optionalKey(ErrorActions),
        other: Schema.optionalKey(ErrorActions)
      }),
      onError,
      "Actions when an agent's model fails, by kind of failure: wait, continue, escalate, fail."
    )
  },
  nats: {
    url: unset(
      text,
      "nats://127.0.0.1:4222",
      "A NATS server to use instead of the embedded one; several servers of a cluster with commas between."
    ),
    credentials: unset(text, "/home/me/reprise.creds", "Path of the credentials file for nats.url."),
    nkeySeedFile: unset(text, "/home/me/person.nk", "Path of a file with the seed of an nkey for nats.url."),
    caFile: unset(text, "/home/me/ca.crt", "Path of the CA certificate for the server at nats.url."),
    prefix: setting(text, "reprise", "First token of every subject."),
    replicas: unset(
      Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 5 })),
      3,
      "Replicas of each stream on the cluster at nats.url; unset: existing streams keep theirs, new ones get 1."
    ),
    port: setting(port, 0, "Port of the embedded server; 0: any free one."),
    storeMaxBytes: unset(
      count,
      4_294_967_296,
      "Disk quota of the embedded server in bytes; unset: 4 GiB, or half of the free space."
    )
  },
  opencode: {
    url: unset(
      text,
      "http://127.0.0.1:4096",
      "A running OpenCode server to use; its password comes from OPENCODE_SERVER_PASSWORD."
    )
  },
  web: webSettings,
  notify: {
    channels: unquoted(
      setting(
        ChannelTable,
        {},
        'Channels that are notified of questions, by name, such as team = { preset = "slack", url = "env:SLACK_WEBHOOK" }. Presets: webhook (with a secret that signs), ntfy, slack, telegram (with a token and a chat), email (with from and to; a user and a password, if the server wants them), desktop (of this machine). Secrets as env:NAME or file:/path.'
      )
    ),
    batchMs: setting(
      count,
      10_000,
      "Milliseconds after a message in which further questions are gathered into one message; 0: off. Webhooks get each question separately."
    ),
    remindAfterMs: setting(
      count,
      defaultReminders.remindAfterMs,
      "Milliseconds after which you are reminded of a question that is still open; 0: never."
    ),
    remindEveryMs: setting(
      count,
      defaultReminders.remindEveryMs,
      "Milliseconds between further reminders of the same question; 0: only the first."
    ),
    quietHours: unset(
      QuietHours,
      "22:00-07:00",
      "Hours, in the time zone of the machine that does the work, in which nothing is sent; it is sent when they end, if the question is still open."
    )
  },
  log: {
    level: setting(
      Schema.Literals(["Debug", "Info", "Warn", "Error"]),
      "Info",
      "Lowest level written to .reprise/logs/reprise.log."
    )
  }
} as const

type Table = typeof table
type Value<R> = R extends Row<infer A> ? A : never

/** The value of every setting: `settings.gates.quality`. A misspelt name does not compile. */
export type Settings = {
  readonly [K in keyof Table]: Table[K] extends Row<infer A>
    ? A
    : { readonly [Key in keyof Table[K]]: Value<Table[K][Key]> }
}

/** Some settings, such as those that flags of a command set. */
export type SomeSettings = {
  readonly [K in keyof Table]?: Table[K] extends Row<infer A>
    ? A | undefined
    : { readonly [Key in keyof Table[K]]?: Value<Table[K][Key]> | undefined }
}

/** Dotted, as in the file: `gates.quality`. */
export type SettingPath = {
  [K in keyof Table]: Table[K] extends Row<infer _> ? K : `${K}.${keyof Table[K] & string}`
}[keyof Table]

export interface Setting extends Row<unknown> {
  readonly path: SettingPath
  /** Empty at the top level. */
  readonly section: string
  /** Within its section. */
  readonly key: string
  /** Where the file has it, dotted; it can be written as its path too. */
  readonly writtenAs: string
}

const isRow = (entry: object): entry is Row<unknown> => "schema" in entry

/** The rows of the table, in its order. */
export const settingsTable: ReadonlyArray<Setting> = Object.entries(table).flatMap(([name, entry]) =>
  isRow(entry)
    ? [{ path: name as SettingPath, section: "", key: name, writtenAs: writtenAs[name] ?? name, ...entry }]
    : Object.entries(entry).map(([key, row]: [string, Row<unknown>]) => ({
        path: `${name}.${key}` as SettingPath,
        section: name,
        key,
        writtenAs: `${name}.${key}`,
        ...row
      }))
)

/** `gates.qualityTimeoutMs` → `REPRISE_GATES_QUALITY_TIMEOUT_MS`. */
export const environmentName = (path: SettingPath): string =>
  `REPRISE_${path
    .replace(/([a-z])([A-Z])/g, "$1_$2")
    .replaceAll(".", "_")
    .toUpperCase()}`

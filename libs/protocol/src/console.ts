/**
 * What the gate's HTTP side and the web console say to each other (docs/console.md). Runs, questions and sessions are
 * the views of the contracts; here is only what the wire adds to them.
 */
import { Effect, Schema } from "effect"
import { PublicEvent } from "./contracts/contracts.ts"
import { EscalationView } from "./contracts/escalation.ts"
import { Key, RunId, SessionId } from "./ids.ts"

/** Exchanged for a session. */
export const ConsoleSignIn = Schema.Struct({ token: Schema.String })

/** The session of whoever has signed in. It is sent with every request, in the header `X-Reprise-Session`. */
export const ConsoleSignedIn = Schema.Struct({ session: Schema.String })

/** Not `Authorization`, which a proxy in front may want for itself; in no cookie, which other ports of a machine would get. */
export const consoleSessionHeader = "x-reprise-session"

/** A viewer sees everything, and changes nothing. */
export const ConsoleRole = Schema.Literals(["answerer", "viewer"])
export type ConsoleRole = typeof ConsoleRole.Type

/** Who is signed in. `user`: the name under which a proxy signed them in. */
export const ConsoleSession = Schema.Struct({
  role: ConsoleRole,
  user: Schema.optionalKey(Schema.String),
  /** The console serves a repository, in which runs can be started. */
  hasRepository: Schema.Boolean
})
export type ConsoleSession = typeof ConsoleSession.Type

/** A public event with its place in the event stream. */
export const ConsoleEvent = Schema.Struct({
  sequence: Schema.Int,
  /** ISO 8601 UTC. */
  time: Schema.String,
  event: PublicEvent,
  /** The event for people. What could disguise text is made visible in it. */
  line: Schema.String,
  /** Only for whoever looks closely: `reprise watch` leaves it out. */
  isDetail: Schema.Boolean
})
export type ConsoleEvent = typeof ConsoleEvent.Type

/** The first message of an event stream. `resumed`: it goes on after the reader's last event, else some may be missed. */
export const ConsoleConnected = Schema.Struct({ resumed: Schema.Boolean })

/** An answer to a question. Sent again with the same `commandId`, it is given once. */
export const ConsoleAnswer = Schema.Struct({
  commandId: Key,
  choice: Schema.String,
  guidance: Schema.optionalKey(Schema.String),
  /** Who is to take over. */
  runtime: Schema.optionalKey(Schema.String),
  model: Schema.optionalKey(Schema.String),
  variant: Schema.optionalKey(Schema.String),
  /** The commit that was shown with the question. */
  commit: Schema.optionalKey(Schema.String)
})
export type ConsoleAnswer = typeof ConsoleAnswer.Type

/**
 * Has another session, a fork of the one that asks, try again from a question, which stays open (docs/sessions.md#forks).
 * Sent again with the same `commandId`, it is one fork.
 */
export const ConsoleFork = Schema.Struct({
  commandId: Key,
  guidance: Schema.optionalKey(Schema.String),
  /** The turn after which it begins. Default: the last that has ended. */
  at: Schema.optionalKey(Schema.Int)
})
export type ConsoleFork = typeof ConsoleFork.Type

/** The fork, which works on this branch, in a worktree, and begins after this turn. */
export const ConsoleForked = Schema.Struct({ sessionId: SessionId, branch: Schema.String, turn: Schema.Int })
export type ConsoleForked = typeof ConsoleForked.Type

/**
 * Where a browser is reached while no page is open, as it says by `PushSubscription.toJSON()`. The keys are base64url: a
 * point of P-256, and 16 bytes.
 */
export const ConsolePushSubscription = Schema.Struct({
  endpoint: Schema.String.check(Schema.isMaxLength(1024)),
  keys: Schema.Struct({
    p256dh: Schema.String.check(Schema.isPattern(/^[\w-]{87}$/)),
    auth: Schema.String.check(Schema.isPattern(/^[\w-]{22}$/))
  })
})
export type ConsolePushSubscription = typeof ConsolePushSubscription.Type

/** A browser that is not to be told any more. */
export const ConsolePushEnd = Schema.Struct({ endpoint: Schema.String.check(Schema.isMaxLength(1024)) })

/** `publicKey`: with which a browser subscribes, base64url; absent: this console tells no browser without a page. */
export const ConsolePush = Schema.Struct({ publicKey: Schema.optionalKey(Schema.String) })
export type ConsolePush = typeof ConsolePush.Type

/** A question as a notice names it. */
export const PushedQuestion = Schema.Struct({
  id: Schema.String,
  /** Who asks. */
  title: Schema.String,
  /** Why, in the agent's words; of a question that is over, what became of it. */
  text: Schema.String
})
export type PushedQuestion = typeof PushedQuestion.Type

/** What a browser is told while no page is open, as JSON. All questions of a message are of its kind. */
export const PushMessage = Schema.Struct({
  version: Schema.Literal(1),
  kind: Schema.Literals(["raised", "reminder", "closed", "test"]),
  questions: Schema.Array(PushedQuestion),
  /** How many more there are that it does not name. */
  more: Schema.Int
})
export type PushMessage = typeof PushMessage.Type

/** A link that gives one answer, as it stands behind `#` in its address. */
export const ConsoleLinkRequest = Schema.Struct({ link: Schema.String })

/** Gives the answer of a link. Sent again with the same `commandId`, it is given once. */
export const ConsoleLinkAnswer = Schema.Struct({
  ...ConsoleLinkRequest.fields,
  commandId: Key,
  /** The commit that was shown with the question. */
  commit: Schema.optionalKey(Schema.String)
})
export type ConsoleLinkAnswer = typeof ConsoleLinkAnswer.Type

/** What a link answers, and whether it still can. */
export const ConsoleLink = Schema.Struct({
  /** `used`: its own answer was given. `closed`: the question needs no answer any more. */
  state: Schema.Literals(["open", "expired", "used", "closed"]),
  /** The choice that it takes, and how people read it. */
  choice: Schema.String,
  label: Schema.String,
  /** ISO 8601 UTC. */
  expiresAt: Schema.String,
  /** As in a list: without the evidence. */
  question: EscalationView,
  /** The commit that the question is about. */
  commit: Schema.optionalKey(Schema.String)
})
export type ConsoleLink = typeof ConsoleLink.Type

/** Pauses, resumes or aborts a run. Sent again with the same `commandId`, it is done once. */
export const ConsoleControl = Schema.Struct({
  commandId: Key,
  /** For pause: interrupts the turn. */
  now: Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(false))),
  /** For abort. */
  reason: Schema.optionalKey(Schema.String)
})
export type ConsoleControl = typeof ConsoleControl.Type

/** `done`: the service has confirmed it. `pending`: it is stored, and will be done. */
export const ConsoleOutcome = Schema.Struct({ state: Schema.Literals(["done", "pending"]) })
export type ConsoleOutcome = typeof ConsoleOutcome.Type

/** A markdown file of the repository that is a plan, or means to be one. */
export const ConsolePlan = Schema.Struct({
  /** Relative to the repository. */
  path: Schema.String,
  title: Schema.optionalKey(Schema.String),
  phases: Schema.Array(Schema.Struct({ id: Schema.String, title: Schema.String, done: Schema.Boolean })),
  /** Why it cannot be run as it is. */
  problem: Schema.optionalKey(Schema.String)
})
export type ConsolePlan = typeof ConsolePlan.Type

const off = Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(false)))

/** A plan, and the options of `reprise run` (docs/guide.md#run). */
export const ConsoleRunRequest = Schema.Struct({
  plan: Schema.String,
  /** The phase to start with. Default: the first that is not done. */
  phase: Schema.optionalKey(Schema.String),
  auto: off,
  worktree: off,
  allowDirty: off,
  skipQuality: off
})
export type ConsoleRunRequest = typeof ConsoleRunRequest.Type

/** Sent again with the same `commandId`, it starts one run. */
export const ConsoleStart = Schema.Struct({ commandId: Key, ...ConsoleRunRequest.fields })
export type ConsoleStart = typeof ConsoleStart.Type

/** What a run would do, as `reprise run --dry-run` says it, and what the user should know before it starts. */
export const ConsoleDryRun = Schema.Struct({ text: Schema.String, warnings: Schema.Array(Schema.String) })
export type ConsoleDryRun = typeof ConsoleDryRun.Type

/** `pending`: it is stored, and starts when a process does the work. */
export const ConsoleStarted = Schema.Struct({ runId: RunId, ...ConsoleOutcome.fields })
export type ConsoleStarted = typeof ConsoleStarted.Type

/** A setting as `reprise config explain` shows it; `from`: an environment variable, the path of a file, or else the kind of source. */
export const ConsoleSetting = Schema.Struct({
  setting: Schema.String,
  value: Schema.Unknown,
  source: Schema.String,
  from: Schema.String,
  description: Schema.String
})
export type ConsoleSetting = typeof ConsoleSetting.Type

export const ConsolePreviewRequest = Schema.Struct({ guidance: Schema.String })
/** What the agent's next prompt says about an answer, verbatim. */
export const ConsolePreview = Schema.Struct({ text: Schema.String })

/** A long text; `omitted`: how much was left out, in characters, of a log in bytes. */
export const ConsoleText = Schema.Struct({ name: Schema.String, text: Schema.String, omitted: Schema.Int })
export type ConsoleText = typeof ConsoleText.Type

/**
 * A changed file with the lines that it adds and removes in all, none if it is binary. Names are as they are: of any characters.
 * `shown`: how much of its diff is in `text`.
 */
export const ConsoleChangedFile = Schema.Struct({
  path: Schema.String,
  /** Its name before, if it was renamed or copied. */
  from: Schema.optionalKey(Schema.String),
  kinds: Schema.Array(
    Schema.Literals(["new", "deleted", "renamed", "copied", "type changed", "mode changed", "binary"])
  ).pipe(Schema.withDecodingDefaultKey(Effect.succeed([]))),
  added: Schema.Int,
  removed: Schema.Int,
  shown: Schema.Literals(["whole", "start", "none"]),
  /** A unified diff, as git writes it; two where a file became a link, or the other way round. */
  text: Schema.String.pipe(Schema.withDecodingDefaultKey(Effect.succeed("")))
})
export type ConsoleChangedFile = typeof ConsoleChangedFile.Type

const nothingMore = { commits: 0, untracked: 0, files: 0, added: 0, removed: 0 }

/** The work of a phase so far. */
export const ConsoleChanges = Schema.Struct({
  /** One line each, newest first. */
  commits: Schema.Array(Schema.String),
  untracked: Schema.Array(Schema.String),
  files: Schema.Array(ConsoleChangedFile).pipe(Schema.withDecodingDefaultKey(Effect.succeed([]))),
  /** How many are left out of each list, and the lines that the files among them add and remove. */
  more: Schema.Struct({
    commits: Schema.Int,
    untracked: Schema.Int,
    files: Schema.Int,
    added: Schema.Int,
    removed: Schema.Int
  }).pipe(Schema.withDecodingDefaultKey(Effect.succeed(nothingMore))),
  /** The diffs of `files`, one after the other. `omitted`: characters that are left out. */
  patch: ConsoleText
})
export type ConsoleChanges = typeof ConsoleChanges.Type

/** Asks the host of a run for what lies there: answered with `ConsoleChanges`, or with a `ConsoleText` for each log. */
export const LookAtWork = Schema.TaggedUnion({
  /** `base`: the commit since which; absent: only what is not committed. */
  Changes: { runId: RunId, base: Schema.optionalKey(Schema.String) },
  /** `logs`: as `logRef` of the results of quality gates names them. */
  GateLogs: { runId: RunId, logs: Schema.Array(Schema.String).check(Schema.isMaxLength(100)) }
})
export type LookAtWork = typeof LookAtWork.Type

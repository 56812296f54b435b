/**
 * What the reviewer accepts, publishes and shows: the reviews of one phase (docs/design/sessions.md#reviews-reviewer).
 * The codes of its refusals are at the end.
 */
import { Effect, Schema } from "effect"
import { FailureKind } from "../failure.ts"
import { Host, PhaseId, ReviewKey, RunId, SessionId, TurnId } from "../ids.ts"
import { ContextFill, Item, RuntimeName, Speaker, TurnLimits, Verdict } from "../model.ts"
import { contract, eventual } from "./Contract.ts"
import { atPhase, CommandRefused, directory, host, permissions } from "./fields.ts"

/** Key: `reviewKey(runId, phase)`. */
export const ReviewCommand = Schema.TaggedUnion({
  RequestReview: {
    runId: RunId,
    phase: PhaseId,
    commit: Schema.String,
    /** The commit that the phase began from. */
    base: Schema.String,
    /** How much was changed since `base`, as the workspace counts it. */
    diffStat: Schema.optionalKey(Schema.String),
    /** The phase's title, tasks and completion gate, as the run took them from the plan. */
    planned: Schema.optionalKey(Schema.String),
    reviewPath: Schema.String,
    planPath: Schema.String,
    cycle: Schema.Int,
    directory,
    host,
    runtime: RuntimeName.pipe(Schema.withDecodingDefaultKey(Effect.succeed("opencode" as const))),
    model: Schema.optionalKey(Schema.String),
    /** As in `AgentChoice`. */
    variant: Schema.optionalKey(Schema.String),
    permissions,
    limits: TurnLimits.pipe(Schema.withDecodingDefaultKey(Effect.succeed({}))),
    /** What the author says of its work, from a requester that does not tell `words` apart. */
    notes: Schema.optionalKey(Schema.String),
    /**
     * Everything that was said for the phase's reviewer so far. It is given what is new to its session, and a new session
     * all. `id`: the same in every request of a phase.
     */
    words: Schema.Array(
      Schema.Struct({
        id: Schema.Int,
        from: Speaker,
        text: Schema.String,
        /** Sessions that were told at once. */
        givenTo: Schema.Array(SessionId).pipe(Schema.withDecodingDefaultKey(Effect.succeed([])))
      })
    ).pipe(Schema.withDecodingDefaultKey(Effect.succeed([]))),
    /** The answers at the checkpoints of the run, a line each, newest last. `id`: of the same ledger as those of `words`. */
    decisions: Schema.Array(Schema.Struct({ id: Schema.Int, text: Schema.String })).pipe(
      Schema.withDecodingDefaultKey(Effect.succeed([]))
    ),
    /** The open findings of the newest verdict, for a session that did not reach it. */
    findings: Schema.Array(Item).pipe(Schema.withDecodingDefaultKey(Effect.succeed([]))),
    /** What verification found in the work that its diff may not show, such as submodules that moved. Names in it are the author's. */
    remarks: Schema.Array(Schema.String).pipe(Schema.withDecodingDefaultKey(Effect.succeed([]))),
    prompts: Schema.Record(Schema.String, Schema.String).pipe(Schema.withDecodingDefaultKey(Effect.succeed({})))
  },
  /** The run is paused: the turn under way ends, and its session goes on with the review when it is requested again. */
  InterruptReview: { runId: RunId, phase: PhaseId, reason: Schema.String },
  /** The phase is over or the run was aborted: the reviewer's session ends. */
  CloseReview: { runId: RunId, phase: PhaseId, aborted: Schema.Boolean, reason: Schema.String },
  /** Host `from` is gone: the next review goes on in the session on another host, told what was saved of its conversation. */
  MoveReview: { runId: RunId, phase: PhaseId, from: Host }
})
export type ReviewCommand = typeof ReviewCommand.Type

export const reviewerEvents = {
  /** `sessionReused`: the review goes on in the session of the one before, which was found on its runtime. */
  ReviewStarted: { ...atPhase, sessionReused: Schema.Boolean, cycle: Schema.Int, commit: Schema.String },
  VerdictReached: {
    ...atPhase,
    verdict: Verdict,
    commit: Schema.String,
    cycle: Schema.Int,
    /** How full the reviewer's conversation is. */
    context: Schema.optionalKey(ContextFill),
    /** The last lines that the reviewer wrote, for a human. */
    lastLines: Schema.optionalKey(Schema.String)
  },
  ReviewFailed: {
    ...atPhase,
    reason: Schema.String,
    kind: FailureKind,
    cycle: Schema.Int,
    lastLines: Schema.optionalKey(Schema.String),
    /** When the model's vendor wants to be asked again, ISO 8601. Nothing happens by itself then. */
    retryAt: Schema.optionalKey(Schema.String),
    /** It was interrupted, and the next review goes on in its session. */
    sessionKept: Schema.optionalKey(Schema.Boolean)
  }
} as const
export const ReviewEvent = Schema.TaggedUnion({ ...reviewerEvents, CommandRefused })

/** The reviews of one phase of a run. */
export const ReviewView = Schema.Struct({
  /** The run's id, `-p` and the phase, with `_` for `.`: the id that `show` takes. */
  reviewId: ReviewKey,
  runId: RunId,
  phase: PhaseId,
  /** `closed`: no review is under way, because the phase is over, or the newest one failed or was interrupted. */
  status: Schema.Literals(["reviewing", "judged", "closed"]),
  /** The cycle of the review under way, else of the newest verdict. */
  cycle: Schema.optionalKey(Schema.Int),
  commit: Schema.optionalKey(Schema.String),
  sessionId: Schema.optionalKey(SessionId),
  turnId: Schema.optionalKey(TurnId),
  /** The newest verdict. */
  verdict: Schema.optionalKey(Verdict),
  /** How many turns and sessions the phase's reviews took. */
  turns: Schema.Int,
  sessions: Schema.Int
})
export type ReviewView = typeof ReviewView.Type

export const reviewer = contract({
  service: "reviewer",
  actor: "review",
  key: ReviewKey,
  keyField: undefined,
  commands: ReviewCommand,
  events: ReviewEvent,
  view: ReviewView,
  refusals: ["unreadable", "misaddressed", "not-found", "busy"],
  outcomes: {
    RequestReview: eventual("VerdictReached", "ReviewFailed")
  }
})

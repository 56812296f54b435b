/** Decides how reviews are requested, judged, failed and closed (docs/design/sessions.md#reviews-reviewer). */
import { type Delivery, type Refusal, refusing } from "@reprise/actor"
import {
  defined,
  type ReviewCommand,
  reviewerSessionIdOf,
  reviewerTurnIdOf,
  reviewKey,
  type TurnId,
  type Verdict
} from "@reprise/protocol"
import { Result } from "effect"
import type { ReviewRequest } from "../prompts.ts"
import type { InputOf, ReviewInput } from "./inputs.ts"
import type { JournalEvent } from "./journal.ts"
import type { InterruptedReview, KnownReviewer, MovedReviewer, OpenReview, ReviewState } from "./state.ts"

type Decision = Result.Result<ReadonlyArray<JournalEvent>, Refusal>

const refuse = refusing("reviewer")
const nothing: Decision = Result.succeed([])

const stepOf = ({ phase, runId }: ReviewRequest) => ({ runId, phase, step: "REVIEW" as const })

const isFor = <Other extends { readonly cycle: number; readonly commit: string }>(
  request: ReviewRequest,
  other: Other | undefined
): other is Other => other?.cycle === request.cycle && other.commit === request.commit

/** The ids of the words that its session knows: from earlier requests, or because it was told at once. */
const toldBefore = (
  { sessionId, told }: Pick<KnownReviewer, "sessionId" | "told">,
  { words }: ReviewRequest
): ReadonlyArray<number> => [
  ...told,
  ...words.flatMap(({ givenTo, id }) => (givenTo.includes(sessionId) && !told.includes(id) ? [id] : []))
]

/** The review goes on in the session in which it was interrupted. */
const resumeReview = (
  review: ReviewState,
  interrupted: InterruptedReview,
  request: ReviewRequest
): ReadonlyArray<JournalEvent> => {
  const { begun, lastReviewed, sessionId } = interrupted
  return [
    {
      _tag: "ReviewRequested",
      request,
      turnId: reviewerTurnIdOf(request.runId, request.phase, review.turns + 1),
      sessionId,
      ...defined({ lastReviewed }),
      told: toldBefore(interrupted, request),
      resumed: begun ? "begun" : "unread"
    }
  ]
}

/** Nothing of what its agent was given before counts as read: the commits that it was about are lost. */
const goOnElsewhere = (review: ReviewState, moved: MovedReviewer, request: ReviewRequest): JournalEvent => ({
  _tag: "ReviewRequested",
  request,
  turnId: reviewerTurnIdOf(request.runId, request.phase, review.turns + 1),
  sessionId: moved.sessionId,
  movedFrom: moved.from
})

/** A session whose first review, of another commit, was interrupted is not reused: nothing says what it has seen of this one. */
const endInterrupted = ({ interrupted, reviewer }: ReviewState): ReadonlyArray<JournalEvent> =>
  interrupted === undefined || reviewer !== undefined
    ? []
    : [
        {
          _tag: "ReviewerForgotten",
          sessionId: interrupted.sessionId,
          aborted: false,
          reason: `it was interrupted in the review of ${interrupted.commit}, and another commit is reviewed`
        }
      ]

/**
 * The first review of a phase, and the first after a failed one, begins a new session; later ones continue it. A
 * request that is repeated after its verdict gets the same verdict again.
 */
const requestReview = (review: ReviewState, request: ReviewRequest): Decision => {
  if (isFor(request, review.open?.request)) return nothing
  if (isFor(request, review.reached)) return Result.succeed([review.reached])
  if (review.open !== undefined) {
    const { commit, cycle } = review.open.request
    return refuse(
      "busy",
      `Commit ${commit} is under review (cycle ${cycle}). Wait for its verdict, or close the review.`
    )
  }
  const { interrupted } = review
  if (review.moved !== undefined) return Result.succeed([goOnElsewhere(review, review.moved, request)])
  if (interrupted?.commit === request.commit) return Result.succeed(resumeReview(review, interrupted, request))
  const known = review.reviewer
  const turnId = reviewerTurnIdOf(request.runId, request.phase, review.turns + 1)
  const sessionId = known?.sessionId ?? reviewerSessionIdOf(request.runId, request.phase, review.sessions + 1)
  const of = { request, turnId, sessionId }
  return Result.succeed(
    known === undefined
      ? [...endInterrupted(review), { _tag: "ReviewRequested", ...of }, reviewStarted(of, false)]
      : [
          {
            _tag: "ReviewRequested",
            ...of,
            lastReviewed: known.commit,
            told: toldBefore(interrupted ?? known, request)
          }
        ]
  )
}

const reviewStarted = (
  { request, sessionId, turnId }: Pick<OpenReview, "request" | "sessionId" | "turnId">,
  sessionReused: boolean
): JournalEvent => ({
  _tag: "ReviewStarted",
  ...stepOf(request),
  sessionId,
  turnId,
  sessionReused,
  cycle: request.cycle,
  commit: request.commit
})

/** The session-manager has looked at the session that the review was to go on in. */
const sessionFound = (
  review: ReviewState,
  { _tag, turnId }: InputOf<"SessionReused"> | InputOf<"SessionReplaced">
): Decision => {
  const open = openReviewOf(review, turnId)
  return open === undefined || open.started ? nothing : Result.succeed([reviewStarted(open, _tag === "SessionReused")])
}

/** The open review if it waits for this turn. Any other turn is late and changes nothing. */
const openReviewOf = (review: ReviewState, turnId: TurnId | undefined): OpenReview | undefined =>
  review.open?.turnId === turnId ? review.open : undefined

/** The verdict, if every item has its own id and a title; otherwise, what is wrong with it, as a sentence. */
const checkVerdict = (verdict: Verdict | undefined): Result.Result<Verdict, string> => {
  if (verdict === undefined) return Result.fail("The reviewer's turn ended without a verdict.")
  const { items } = verdict
  if (items.some(({ id, title }) => id.trim() === "" || title.trim() === "")) {
    return Result.fail("The verdict has an item without an id or a title.")
  }
  const duplicate = items.find(({ id }, index) => items.findIndex((item) => item.id === id) !== index)
  return duplicate === undefined
    ? Result.succeed(verdict)
    : Result.fail(`The verdict has two items with the id ${duplicate.id}.`)
}

const lastLinesOf = ({ lastLines }: Pick<InputOf<"TurnCompleted">, "lastLines">) =>
  lastLines === undefined ? {} : { lastLines }

const completeTurn = (review: ReviewState, event: InputOf<"TurnCompleted">): Decision => {
  const open = openReviewOf(review, event.turnId)
  if (open === undefined) return nothing
  const verdict = checkVerdict(event.verdict)
  if (Result.isFailure(verdict)) return failReview(open, "invalid-report", verdict.failure, event)
  return Result.succeed([
    {
      _tag: "VerdictReached",
      ...stepOf(open.request),
      sessionId: open.sessionId,
      turnId: open.turnId,
      verdict: verdict.success,
      commit: open.request.commit,
      cycle: open.request.cycle,
      ...defined({ context: event.context }),
      ...lastLinesOf(event)
    }
  ])
}

const failTurn = (review: ReviewState, event: InputOf<"TurnFailed">): Decision => {
  const open = openReviewOf(review, event.turnId)
  if (open === undefined) return nothing
  return open.interrupting && event.kind === "aborted" && event.sessionUsable
    ? keepReviewer(open, event)
    : failReview(open, event.kind, event.message, event, stillMoving(open, event))
}

const reviewFailed = (open: OpenReview, kind: InputOf<"TurnFailed">["kind"], reason: string) =>
  ({
    _tag: "ReviewFailed",
    ...stepOf(open.request),
    sessionId: open.sessionId,
    turnId: open.turnId,
    reason,
    kind,
    cycle: open.request.cycle
  }) as const

/** The session stays, for the same review when it is requested again. */
const keepReviewer = (open: OpenReview, event: InputOf<"TurnFailed">): Decision =>
  Result.succeed([
    { ...reviewFailed(open, event.kind, event.message), sessionKept: true },
    stillMoving(open, event) ?? { _tag: "ReviewerKept", sessionId: open.sessionId, given: event.promptGiven === true }
  ])

/** Its agent was told nothing yet on the host to which it goes. */
const stillMoving = (
  { movedFrom, sessionId }: OpenReview,
  { promptGiven }: InputOf<"TurnFailed">
): JournalEvent | undefined =>
  movedFrom === undefined || promptGiven === true ? undefined : { _tag: "ReviewerMoved", sessionId, from: movedFrom }

/** The session is forgotten with the failure, so that the retry begins in a new one, unless it is `moving` still. */
const failReview = (
  open: OpenReview,
  kind: InputOf<"TurnFailed">["kind"],
  reason: string,
  { retryAt, ...turn }: Parameters<typeof lastLinesOf>[0] & Pick<InputOf<"TurnFailed">, "retryAt">,
  moving?: JournalEvent
): Decision =>
  Result.succeed([
    { ...reviewFailed(open, kind, reason), ...lastLinesOf(turn), ...defined({ retryAt }) },
    moving ?? {
      _tag: "ReviewerForgotten",
      sessionId: open.sessionId,
      aborted: false,
      reason: `its review failed: ${reason}`
    }
  ])

/** Its turn is stopped. A review that has ended meanwhile is left as it is. */
const interruptReview = ({ open, runId }: ReviewState, command: InputOf<"InterruptReview">): Decision => {
  if (runId === undefined)
    return refuse("not-found", `Phase ${command.phase} of run ${command.runId} was never reviewed.`)
  if (open === undefined || open.interrupting) return nothing
  const { sessionId, turnId } = open
  return Result.succeed([{ _tag: "ReviewInterrupted", sessionId, turnId, reason: command.reason }])
}

const closeReview = (review: ReviewState, command: InputOf<"CloseReview">): Decision => {
  if (review.runId === undefined)
    return refuse("not-found", `Phase ${command.phase} of run ${command.runId} was never reviewed.`)
  const sessionId = (review.open ?? review.interrupted ?? review.reviewer ?? review.moved)?.sessionId
  if (sessionId === undefined) return nothing
  // Nobody waits for the result of a turn that is still running.
  const aborted = command.aborted || review.open !== undefined
  return Result.succeed([{ _tag: "ReviewerForgotten", sessionId, aborted, reason: command.reason }])
}

/** Its session is aborted there, and goes on with the next review. */
const moveReview = ({ interrupted, open, reviewer }: ReviewState, { from }: InputOf<"MoveReview">): Decision => {
  const sessionId = (open ?? interrupted ?? reviewer)?.sessionId
  return sessionId === undefined ? nothing : Result.succeed([{ _tag: "ReviewerMoved", sessionId, from }])
}

/** The run and phase that a command names must be those of its subject. */
const requireOwnPhase = (command: ReviewCommand, { key }: Delivery): Result.Result<void, Refusal> => {
  const named = reviewKey(command.runId, command.phase)
  return named === key
    ? Result.void
    : refuse(
        "misaddressed",
        `The message for ${key} names phase ${command.phase} of run ${command.runId}, whose review is ${named}.`
      )
}

export const decide = (review: ReviewState, input: ReviewInput, delivery: Delivery): Decision => {
  switch (input._tag) {
    case "RequestReview":
      return Result.andThen(requireOwnPhase(input, delivery), () => requestReview(review, input))
    case "InterruptReview":
      return Result.andThen(requireOwnPhase(input, delivery), () => interruptReview(review, input))
    case "CloseReview":
      return Result.andThen(requireOwnPhase(input, delivery), () => closeReview(review, input))
    case "MoveReview":
      return Result.andThen(requireOwnPhase(input, delivery), () => moveReview(review, input))
    case "SessionReused":
    case "SessionReplaced":
      return sessionFound(review, input)
    case "TurnCompleted":
      return completeTurn(review, input)
    case "TurnFailed":
      return failTurn(review, input)
  }
}

/** The review of one phase for the tests: requests, turns, and the journals that they leave. */
import { assert } from "@effect/vitest"
import { given as givenActor } from "@reprise/actor/testing"
import {
  Host,
  noUsage,
  type PublicEvent,
  RunId,
  reviewerSessionIdOf,
  reviewerTurnIdOf,
  reviewKey,
  type Verdict
} from "@reprise/protocol"
import { reviewActor } from "../../src/actor/actor.ts"
import type { ReviewInput } from "../../src/actor/inputs.ts"
import type { JournalEvent } from "../../src/actor/journal.ts"
import type { ReviewRequest } from "../../src/prompts.ts"

export const runId = RunId.make("r1")
export const phase = "2"
export const key = reviewKey(runId, phase)
export const given = (history: ReadonlyArray<JournalEvent>) => {
  const { state, when } = givenActor(reviewActor)(history)
  return { state, when: (input: ReviewInput, to = key) => when(input, { key: to }) }
}
export const at = { runId, phase, step: "REVIEW" as const }
export const session = (n: number) => reviewerSessionIdOf(runId, phase, n)
export const turn = (n: number) => reviewerTurnIdOf(runId, phase, n)

export const request = (cycle: number, commit: string, more: Partial<ReviewRequest> = {}): ReviewRequest => ({
  _tag: "RequestReview",
  runId,
  phase,
  commit,
  base: "base",
  reviewPath: "docs/review.md",
  planPath: "PLAN.md",
  cycle,
  directory: "/work/repository",
  host: Host.make("h1"),
  runtime: "opencode",
  permissions: "ask",
  limits: {},
  words: [],
  decisions: [],
  findings: [],
  remarks: [],
  prompts: {},
  ...more
})

export const ready: Verdict = { readiness: "ready", items: [] }
export const usage = { ...noUsage, duration: 0, attempts: 1 }
type EventOf<Tag extends PublicEvent["_tag"]> = Extract<PublicEvent, { _tag: Tag }>

export const completed = (n: number, verdict?: Verdict): EventOf<"TurnCompleted"> => ({
  _tag: "TurnCompleted",
  ...at,
  role: "reviewer",
  sessionId: session(1),
  turnId: turn(n),
  report: "verdict",
  ...(verdict === undefined ? {} : { verdict }),
  ...usage
})

export const failedTurn = (n: number): EventOf<"TurnFailed"> => ({
  _tag: "TurnFailed",
  ...at,
  role: "reviewer",
  sessionId: session(1),
  turnId: turn(n),
  kind: "runtime",
  message: "the runtime broke",
  sessionUsable: false,
  ...usage
})

const started = (n: number, asked: ReviewRequest, s: number, sessionReused: boolean): JournalEvent => ({
  _tag: "ReviewStarted",
  ...at,
  sessionId: session(s),
  turnId: turn(n),
  sessionReused,
  cycle: asked.cycle,
  commit: asked.commit
})

/** A review in a new session has started at once; one in the reviewer's own starts when that has been found. */
export const requested = (
  n: number,
  asked: ReviewRequest,
  s: number,
  lastReviewed?: string
): ReadonlyArray<JournalEvent> => [
  {
    _tag: "ReviewRequested",
    request: asked,
    turnId: turn(n),
    sessionId: session(s),
    ...(lastReviewed === undefined ? {} : { lastReviewed, told: [] })
  },
  ...(lastReviewed === undefined ? [started(n, asked, s, false)] : [])
]

export const reused = (n: number): EventOf<"SessionReused"> => ({
  _tag: "SessionReused",
  ...at,
  role: "reviewer",
  sessionId: session(1),
  turnId: turn(n),
  runtimeSessionId: "ses_1",
  reason: "review-cycle"
})

export const replaced = (n: number): EventOf<"SessionReplaced"> => ({
  _tag: "SessionReplaced",
  ...at,
  role: "reviewer",
  sessionId: session(1),
  turnId: turn(n),
  old: "ses_1",
  new: "ses_2",
  reason: "the runtime does not know it any more"
})

export const reached = (n: number, cycle: number, commit: string, verdict = ready): JournalEvent => ({
  _tag: "VerdictReached",
  ...at,
  sessionId: session(1),
  turnId: turn(n),
  verdict,
  commit,
  cycle
})

export const failed = (n: number, cycle: number, s = 1): ReadonlyArray<JournalEvent> => [
  {
    _tag: "ReviewFailed",
    ...at,
    sessionId: session(s),
    turnId: turn(n),
    reason: "the runtime broke",
    kind: "runtime",
    cycle
  },
  {
    _tag: "ReviewerForgotten",
    sessionId: session(s),
    aborted: false,
    reason: "its review failed: the runtime broke"
  }
]

export const first = request(1, "c1")
export const second = request(2, "c2")
export const open = requested(1, first, 1)
export const judged = [...open, reached(1, 1, "c1")]
export const goesOn = (sessionReused: boolean): ReadonlyArray<JournalEvent> => [started(2, second, 1, sessionReused)]
export const followedUp = [...judged, ...requested(2, second, 1, "c1")]

export const startTurnOf = (sent: ReadonlyArray<{ readonly _tag: string }>) => {
  const found = sent.find((one) => one._tag === "SendCommand")
  assert.isDefined(found)
  return found as unknown as { readonly key: string; readonly command: Record<string, unknown> }
}

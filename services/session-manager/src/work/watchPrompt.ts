/**
 * Watches a prompt while it runs: reports its work, its progress and its questions, and says when it must stop. Events
 * are for speed; the truth is asked of the runtime at every tick (docs/design/sessions.md#the-port).
 */
import type { WorkFault } from "@reprise/actor"
import type { AgentRuntimeShape, PendingPrompt, RuntimeEvent } from "@reprise/agent"
import {
  addTokens,
  defined,
  type RuntimeFailure,
  type SessionId,
  type Tokens,
  vendorFailureOf
} from "@reprise/protocol"
import { Clock, Deferred, type Duration, Effect, Fiber, Ref, Semaphore, Stream } from "effect"
import type { WorkOf } from "../session/work.ts"
import { agentQuestion } from "./lastOutput.ts"
import {
  activeAt,
  askedBefore,
  humanMs,
  humanSeen,
  inspectedAt,
  type PromptState,
  promptStarted,
  questionAnswered,
  questionAsked,
  recoveringAt,
  tokensSeen,
  wordsSeen
} from "./promptState.ts"
import { type Reporting, refusedReport } from "./report.ts"
import { isHumanIn } from "./runtimeSession.ts"
import { answerReached, limitsOf, type ReachedLimit, reachedLimit } from "./turnLimits.ts"

export interface PromptWatch {
  /** Ends when the prompt must stop, and never otherwise. */
  readonly limit: Effect.Effect<ReachedLimit, WorkFault>
  /** Reports the agent as working, if that has not been done: it may finish before it was seen to work. */
  readonly worked: Effect.Effect<void, WorkFault>
  /** What this attempt at the prompt is known to have used so far. */
  readonly tokens: Effect.Effect<Tokens>
  /** How long it has waited for a human so far; absent: it never did. */
  readonly waited: Effect.Effect<{ readonly humanMs?: number }>
}

export interface Watched {
  readonly work: WorkOf<"RunPrompt">
  readonly sessionId: SessionId
  readonly runtime: AgentRuntimeShape
  readonly reporting: Reporting
  readonly maxWait: Duration.Duration
  readonly idleGrace: Duration.Duration
  readonly longestAnswerChars: number
  /** Prompts whose work was known when this one was sent, ours and others'. */
  readonly known: ReadonlyArray<string>
}

interface Watching extends Watched {
  /** The time that limits are measured by, in epoch milliseconds. */
  readonly now: Effect.Effect<number>
  readonly state: Ref.Ref<PromptState>
  /** Done when the agent writes too much: it is not to go on until the next look. */
  readonly tooLong: Deferred.Deferred<ReachedLimit>
  /** Working is reported before the prompt's end, also when the broker is away for a moment. */
  readonly reportingWork: Semaphore.Semaphore
  /** Questions and their ends are reported one after the other, in the order in which they were seen. */
  readonly reportingQuestions: Semaphore.Semaphore
}

/** The wall clock's time at first, and then what has passed: nobody sets it while a prompt runs. */
const steadyClock = Effect.gen(function* () {
  const wallMs = yield* Clock.currentTimeMillis
  const begun = yield* Clock.monotonicTimeNanos
  return Effect.map(Clock.monotonicTimeNanos, (nanos) => wallMs + Number(nanos - begun) / 1e6)
})

const update = ({ now, state }: Watching, change: (state: PromptState, now: number) => PromptState) =>
  Effect.flatMap(now, (at) => Ref.update(state, (before) => change(before, at)))

/** Applies a change only where it is one, and says whether it was: two fibers may see the same question. */
const changeOnce = (
  { now, state }: Watching,
  isNew: (state: PromptState) => boolean,
  change: (state: PromptState, now: number) => PromptState
) =>
  Effect.flatMap(now, (at) =>
    Ref.modify(state, (before) => (isNew(before) ? [true, change(before, at)] : [false, before]))
  )

const reportWorking = Effect.fnUntraced(
  function* ({ reporting, state, work }: Watching, evidence: string) {
    if ((yield* Ref.get(state)).workingReported) return
    const { number, turnId } = work
    yield* reporting.tell("works", { _tag: "RecordWorking", turnId, number, evidence })
    yield* Ref.update(state, (before) => ({ ...before, workingReported: true }))
  },
  (report, { reportingWork }) => reportingWork.withPermits(1)(report)
)

/** The questions of this session that are open on the runtime now. */
const pendingQuestions = ({ runtime, work }: Watching) =>
  Effect.map(runtime.pendingPrompts(work.directory), (pending) =>
    pending.filter(({ sessionId }) => sessionId === work.runtimeSessionId)
  )

/** A runtime that does not answer is asked at the next tick again. */
const isPending = (watching: Watching, promptId: string) =>
  pendingQuestions(watching).pipe(
    Effect.map((pending) => pending.some((question) => question.promptId === promptId)),
    Effect.orElseSucceed(() => false)
  )

/**
 * `known`: how many were reported when the runtime told of this one; of an event that is not known. If another was reported
 * since, the runtime may have lost this one and its agent have asked again: told last, it would pass for the one that is
 * open.
 */
const reportQuestion = Effect.fnUntraced(
  function* (watching: Watching, asked: PendingPrompt, known = 0) {
    const { promptId } = asked
    const { reporting, runtime, state } = watching
    const { openQuestions, questions } = yield* Ref.get(state)
    if (openQuestions.has(promptId)) return
    if (questions.length > known && !(yield* isPending(watching, promptId))) return
    const question = yield* agentQuestion(runtime, asked)
    yield* update(watching, (before, now) => questionAsked(before, promptId, now))
    const earlier = askedBefore(yield* Ref.get(state), promptId)
    yield* reporting.tell(`asks.${promptId}`, { ...question, ...(earlier.length === 0 ? {} : { earlier }) })
  },
  (report, { reportingQuestions }) => reportingQuestions.withPermits(1)(report)
)

const reportQuestionGone = Effect.fnUntraced(
  function* (watching: Watching, promptId: string) {
    const { reporting, state } = watching
    if (!(yield* Ref.get(state)).openQuestions.has(promptId)) return
    yield* update(watching, (before, now) => questionAnswered(before, promptId, now))
    yield* reporting.tell(`answered.${promptId}`, { _tag: "RecordAgentQuestionGone", promptId })
  },
  (report, { reportingQuestions }) => reportingQuestions.withPermits(1)(report)
)

/** Which turn of which session the messages are about. */
const turnOf = ({ sessionId, work: { phase, role, runId, step, turnId } }: Watching) => ({
  ...{ runId, sessionId, turnId, role },
  ...defined({ phase, step })
})

const reportRecovering = Effect.fnUntraced(function* (watching: Watching, kind: RuntimeFailure, message: string) {
  const { number, turnId } = watching.work
  yield* update(watching, (state, now) => recoveringAt(state, kind, now))
  const recovering = { _tag: "RecordRecovering", turnId, number, kind: vendorFailureOf(kind), message } as const
  yield* watching.reporting.tell(`recovers.${kind}`, recovering)
})

const progressEveryMs = 1000

type RuntimeEventOf<Type extends RuntimeEvent["type"]> = Extract<RuntimeEvent, { readonly type: Type }>

/** Files of the working tree are named from there. */
const fromDirectory = (argument: string, directory: string): string =>
  directory !== "" && argument.startsWith(`${directory}/`) ? argument.slice(directory.length + 1) : argument

/** Each tool and each step, while `TurnProgress` is stored and therefore throttled. */
const announceProgress = Effect.fnUntraced(function* (
  watching: Watching,
  { argument, contextTokens, cost, tokens, tool }: RuntimeEventOf<"progress">
) {
  const { directory, usedBefore } = watching.work
  const { announce } = watching.reporting
  const where = turnOf(watching)
  yield* announce({
    _tag: "UsageSoFar",
    ...where,
    tokens: addTokens(usedBefore.tokens, tokens),
    ...(cost === undefined ? {} : { cost: usedBefore.cost + cost }),
    ...defined({ contextTokens })
  })
  if (tool === undefined) return
  const what = argument === undefined ? {} : { argument: fromDirectory(argument, directory) }
  yield* announce({ _tag: "ToolStarted", ...where, tool, ...what })
})

/** Of our prompt or not, nobody can read it. */
const measureWords = Effect.fnUntraced(function* (watching: Watching, event: RuntimeEventOf<"words">) {
  yield* update(watching, (state) => wordsSeen(state, event))
  const reached = answerReached(yield* Ref.get(watching.state), watching.longestAnswerChars)
  if (reached !== undefined) yield* Deferred.succeed(watching.tooLong, reached)
})

const announceWords = (watching: Watching, { kind, omitted, part, text }: RuntimeEventOf<"words">) =>
  watching.reporting.announce({
    _tag: "AgentSaid",
    ...turnOf(watching),
    ...{ part, kind, text },
    ...(omitted === 0 ? {} : { omitted })
  })

const announceRecovering = Effect.fnUntraced(function* (
  watching: Watching,
  { kind, message, retryAfterMs }: RuntimeEventOf<"failed">
) {
  const now = yield* Clock.currentTimeMillis
  yield* watching.reporting.announce({
    _tag: "VendorAwaited",
    ...turnOf(watching),
    ...{ kind: vendorFailureOf(kind), message },
    ...(retryAfterMs === undefined ? {} : { until: new Date(now + retryAfterMs).toISOString() })
  })
})

const showProgress = Effect.fnUntraced(function* (watching: Watching, event: RuntimeEventOf<"progress">) {
  const { tokens, tool } = event
  yield* update(watching, (state) => tokensSeen(state, tokens))
  yield* announceProgress(watching, event)
  const now = yield* watching.now
  const isDue = yield* changeOnce(
    watching,
    ({ progressShownMs }) => now - progressShownMs >= progressEveryMs,
    (state) => ({ ...state, progressShownMs: now })
  )
  if (!isDue) return
  yield* watching.reporting.show({
    _tag: "TurnProgress",
    ...turnOf(watching),
    ...defined({ tool }),
    tokens: addTokens(watching.work.usedBefore.tokens, tokens)
  })
})

/** The prompt may end meanwhile: what has begun to be reported is. */
const reportRefused = ({ reporting }: Watching, event: RuntimeEventOf<"refused">) =>
  Effect.uninterruptible(reporting.tell(`refused.${event.promptId}`, refusedReport(event)))

/** Activity in the session counts against inactivity, whoever caused it; only that of our prompt is reported. */
const observe = (watching: Watching, event: RuntimeEvent): Effect.Effect<void, WorkFault> => {
  const { causePromptId } = event
  const isOurs = causePromptId === undefined || causePromptId === watching.work.identity.messageId
  switch (event.type) {
    case "working":
      return Effect.andThen(update(watching, activeAt), isOurs ? reportWorking(watching, event.evidence) : Effect.void)
    case "progress":
      return Effect.andThen(update(watching, activeAt), isOurs ? showProgress(watching, event) : Effect.void)
    case "words":
      return Effect.andThen(measureWords(watching, event), isOurs ? announceWords(watching, event) : Effect.void)
    case "prompting":
      return reportQuestion(watching, event)
    case "replied":
      return reportQuestionGone(watching, event.promptId)
    case "refused":
      return reportRefused(watching, event)
    case "failed":
      return event.recovering
        ? Effect.andThen(announceRecovering(watching, event), reportRecovering(watching, event.kind, event.message))
        : Effect.void
    // The prompt's own outcome tells of these.
    case "idle":
    case "gone":
      return Effect.void
  }
}

/** Finds what the events may have missed. A runtime that does not answer fails the prompt itself. */
const askRuntime = Effect.fnUntraced(
  function* (watching: Watching) {
    const { runtime, state, work } = watching
    // What is asked while the runtime answers is not in its answer.
    const { openQuestions, questions } = yield* Ref.get(state)
    const open = yield* pendingQuestions(watching)
    for (const question of open) yield* reportQuestion(watching, question, questions.length)
    for (const promptId of openQuestions) {
      if (!open.some((question) => question.promptId === promptId)) yield* reportQuestionGone(watching, promptId)
    }
    const inspection = yield* runtime.inspect(work.runtimeSessionId)
    const { idleGrace, known } = watching
    const wallMs = yield* Clock.currentTimeMillis
    const human = isHumanIn(inspection, { own: work.identity.messageId, prompts: known }, idleGrace, wallMs)
    yield* update(watching, (before, now) => humanSeen(inspectedAt(before, inspection, work, now), human, now))
    const seen = inspection.state
    if (seen._tag === "retrying") yield* reportRecovering(watching, seen.kind, seen.message)
  },
  (asking) => Effect.catchTag(asking, "AgentError", () => Effect.void)
)

const longestTickMs = 5000

/** A quarter of the shortest limit. */
const tickMs = ({ limits }: WorkOf<"RunPrompt">): number => {
  const { inactivityMs = Infinity, wallMs = Infinity } = limitsOf(limits)
  return Math.max(20, Math.min(longestTickMs, inactivityMs / 4, wallMs / 4))
}

const isReached = (limit: ReachedLimit | undefined): limit is ReachedLimit => limit !== undefined

const awaitLimit = (watching: Watching) =>
  Effect.gen(function* () {
    yield* askRuntime(watching)
    const now = yield* watching.now
    return reachedLimit(yield* Ref.get(watching.state), watching.work, watching.maxWait, now)
  }).pipe(Effect.delay(tickMs(watching.work)), Effect.repeat({ until: isReached }))

/** Listens from before the prompt is sent, so that its first event is not missed, until the scope closes. */
export const watchPrompt = Effect.fnUntraced(function* (watched: Watched) {
  const { runtime, work } = watched
  const now = yield* steadyClock
  const state = yield* Ref.make(promptStarted(work, yield* now))
  const reportingWork = yield* Semaphore.make(1)
  const reportingQuestions = yield* Semaphore.make(1)
  const tooLong = yield* Deferred.make<ReachedLimit>()
  const watching: Watching = { ...watched, now, state, tooLong, reportingWork, reportingQuestions }
  const events = yield* runtime.events.pipe(
    Stream.filter((event) => event.sessionId === work.runtimeSessionId),
    Stream.runForEach((event) => observe(watching, event)),
    Effect.andThen(Effect.never),
    Effect.forkScoped({ startImmediately: true })
  )
  return {
    limit: Effect.raceFirst(Fiber.join(events), Effect.raceFirst(awaitLimit(watching), Deferred.await(tooLong))),
    worked: reportWorking(watching, "answer"),
    tokens: Effect.map(Ref.get(state), ({ tokens }) => tokens),
    waited: Effect.zipWith(Ref.get(state), now, (current, at) => {
      const waitedMs = humanMs(current, at)
      return waitedMs === 0 ? {} : { humanMs: waitedMs }
    })
  } satisfies PromptWatch
})

/**
 * Runs one prompt of a turn to its end, however often the work is delivered: the runtime knows the prompt by its ids.
 * The outcome is reported once; a prompt that is interrupted, or whose session is aborted, reports nothing.
 */
import type { WorkContext } from "@reprise/actor"
import { type AgentRuntimeShape, AgentRuntimes, type TurnOutcome } from "@reprise/agent"
import { defined, noUsage, SessionId } from "@reprise/protocol"
import { Clock, Duration, Effect, Option, Result, Schedule } from "effect"
import type { Report } from "../session/inputs.ts"
import type { WorkOf } from "../session/work.ts"
import type { SessionSettings } from "../settings.ts"
import { withoutBlock } from "../turn/decodeReport.ts"
import { holdsPrompt, textOf } from "./conversation.ts"
import { HandBacks } from "./HandBacks.ts"
import { committedIn } from "./headCommit.ts"
import { type LastOutput, lastLinesOf, lastOutputOf } from "./lastOutput.ts"
import { OwnPrompts } from "./OwnPrompts.ts"
import { failureKindOf, type Reporting, reportTo, sessionShown } from "./report.ts"
import { isHumanIn, stopOnRuntime, totalUsed } from "./runtimeSession.ts"
import { saveMeanwhile } from "./saveNewMessages.ts"
import type { ReachedLimit } from "./turnLimits.ts"
import { type PromptWatch, watchPrompt } from "./watchPrompt.ts"

type RunPrompt = WorkOf<"RunPrompt">
type Failure = Pick<Report<"RecordPromptFailed">, "kind" | "message" | "sessionUsable"> &
  Partial<Report<"RecordPromptFailed">>

interface Running {
  readonly work: RunPrompt
  readonly runtime: AgentRuntimeShape
  readonly reporting: Reporting
  readonly watch: PromptWatch
}

/** The report stands at the end of the text; what comes before this many characters is dropped. */
const longestReport = 256 * 1024

/**
 * The session, if the prompt is still its current one. Redelivered after an abort it would begin its turn again, and after
 * its result was recorded it would disturb the prompt that follows.
 */
const currentSession = (work: RunPrompt, context: WorkContext) =>
  Effect.map(sessionShown(context), (shown) =>
    shown?.turnId === work.turnId && shown.interrupting !== true && shown.lastPromptId === work.identity.messageId
      ? shown
      : undefined
  )

const isHumanPresent = Effect.fnUntraced(function* (
  runtime: AgentRuntimeShape,
  { identity, runtimeSessionId }: RunPrompt,
  known: ReadonlyArray<string>,
  idleGrace: Duration.Duration
) {
  const inspected = Option.getOrUndefined(yield* Effect.option(runtime.inspect(runtimeSessionId)))
  if (inspected === undefined) return false
  const now = yield* Clock.currentTimeMillis
  return isHumanIn(inspected, { own: identity.messageId, prompts: known }, idleGrace, now)
})

/** What a human does in the session is theirs: the prompt waits until they hand the session back or rest. */
const awaitHuman = (
  runtime: AgentRuntimeShape,
  work: RunPrompt,
  known: ReadonlyArray<string>,
  idleGrace: Duration.Duration
) =>
  isHumanPresent(runtime, work, known, idleGrace).pipe(
    Effect.repeat({
      while: (present) => present,
      schedule: Schedule.spaced(
        Duration.clamp(Duration.times(idleGrace, 0.25), { minimum: Duration.millis(20), maximum: Duration.seconds(1) })
      )
    })
  )

/** Waits while another turn runs in the session, such as a human's. */
const promptRuntime = (runtime: AgentRuntimeShape, work: RunPrompt) =>
  runtime
    .prompt({
      runtimeSessionId: work.runtimeSessionId,
      directory: work.directory,
      promptId: work.identity,
      text: work.text,
      role: work.role,
      ...defined({
        model: work.model,
        instructionsFrom: work.instructionsFrom,
        variant: work.variant,
        maxTurns: work.limits.maxAgentTurns
      })
    })
    .pipe(Effect.retry({ while: (error) => error.kind === "busy", schedule: Schedule.spaced("2 seconds") }))

/**
 * What the conversation tells after a failure: the end of what the agent wrote, for a human, and whether it was given the
 * prompt. Includes what the session has used in all, and the model that answered last.
 */
const lookAtConversation = (runtime: AgentRuntimeShape, { runtimeSessionId, text }: RunPrompt) =>
  runtime.history(runtimeSessionId).pipe(
    Effect.map((messages) => ({
      ...lastLinesOf(withoutBlock(textOf(messages.findLast(({ role }) => role === "assistant")))),
      given: holdsPrompt(messages, text)
    })),
    Effect.orElseSucceed(() => ({})),
    Effect.zip(totalUsed(runtime, runtimeSessionId)),
    Effect.map(([seen, told]) => ({ ...seen, ...told }))
  )

/** The agent's last words without its report. Where it wrote nothing else, they are in an earlier message. */
const forHuman = ({ runtime, work }: Running, text: string): Effect.Effect<LastOutput> => {
  const words = lastLinesOf(withoutBlock(text))
  return words.lastLines !== undefined || work.kind === "report" || work.kind === "correction"
    ? Effect.succeed(words)
    : lastOutputOf(runtime, work.runtimeSessionId)
}

const reportFailure = Effect.fnUntraced(function* (running: Running, failure: Failure) {
  const { reporting, runtime, watch, work } = running
  const { number, turnId } = work
  const seen = failure.kind === "gone" ? {} : yield* lookAtConversation(runtime, work)
  const used = { ...noUsage, tokens: yield* watch.tokens, toolCalls: 0, ...(yield* watch.waited) }
  const of = { turnId, number, attempts: 1 }
  const committed = yield* committedIn(work.directory)
  yield* reporting.tell("ended", { _tag: "RecordPromptFailed", ...of, ...used, ...seen, ...committed, ...failure })
})

const stopAtLimit = Effect.fnUntraced(function* (running: Running, { kind, message, waitedMs }: ReachedLimit) {
  yield* stopOnRuntime(running.runtime, running.work.runtimeSessionId)
  const waited = waitedMs === undefined ? {} : { waitedMs }
  yield* reportFailure(running, { kind, message, sessionUsable: true, ...waited })
})

const reportOutcome = Effect.fnUntraced(function* (running: Running, outcome: TurnOutcome) {
  const { reporting, runtime, watch, work } = running
  const { identity, number, turnId } = work
  const ownPrompts = yield* OwnPrompts
  yield* watch.worked
  const inspected = Option.getOrUndefined(yield* Effect.option(runtime.inspect(work.runtimeSessionId)))
  const { answered, context, cost, finish, model, spokenAfter = false, stopReason, text, tokens, toolCalls } = outcome
  const ended = {
    ...{ turnId, number, tokens, cost, toolCalls, calls: 0 },
    attempts: outcome.attempts ?? 1,
    ...(yield* watch.waited),
    ...(inspected === undefined ? {} : { messages: inspected.messageCount, total: inspected.usage }),
    ...defined({ model, finish, context }),
    ...(yield* forHuman(running, text)),
    ...(yield* committedIn(work.directory))
  }
  const last = inspected?.lastMessage
  // What was said during the turn was answered in it.
  if (answered !== undefined) yield* ownPrompts.remember(answered, work.runtimeSessionId, 0)
  const isCutOff = last?.causePromptId === identity.messageId && !last.finished && stopReason !== "refused"
  const why = stopReason === "output-limit" ? "turn-limit" : isCutOff ? "unfinished" : undefined
  yield* reporting.tell(
    "ended",
    why === undefined
      ? {
          _tag: "RecordPromptResult",
          ...ended,
          text: text.slice(-longestReport),
          ...(spokenAfter ? { spokenAfter } : {}),
          ...defined({ answered })
        }
      : { _tag: "RecordPromptStopped", ...ended, why }
  )
})

export const runPrompt = Effect.fn("runPrompt")(function* (
  work: RunPrompt,
  context: WorkContext,
  {
    idleGrace,
    longestAnswerChars,
    maxWait,
    saveEvery
  }: Pick<SessionSettings, "idleGrace" | "longestAnswerChars" | "maxWait" | "saveEvery">
) {
  const { identity, number, runtimeSessionId, turnId } = work
  const runtimes = yield* AgentRuntimes
  const ownPrompts = yield* OwnPrompts
  const reporting = yield* reportTo(context)
  const interrupted = yield* ownPrompts.enter({ runtimeSessionId, messageId: identity.messageId })
  const session = yield* currentSession(work, context)
  if (session === undefined) return yield* Effect.logInfo(`prompt ${number} of turn ${turnId} is over`)

  const found = yield* Effect.result(runtimes.get(work.runtime))
  if (Result.isFailure(found)) {
    const { detail: message, sessionUsable } = found.failure
    return yield* reporting.tell("ended", {
      _tag: "RecordPromptFailed",
      ...{ turnId, number, attempts: 1, ...noUsage, toolCalls: 0 },
      kind: "runtime",
      message,
      sessionUsable
    })
  }
  const runtime = found.success
  // The broker may also have delivered it to nobody, so the number of deliveries says little.
  if (context.delivery > 1) {
    yield* reporting.tell(`again.${context.delivery}`, { _tag: "RecordPromptAgain", turnId, number })
  }
  const known = session.knownPromptIds ?? []
  const watch = yield* watchPrompt({
    work,
    sessionId: SessionId.make(context.key),
    runtime,
    reporting,
    maxWait: work.limits.maxWaitMs === undefined ? maxWait : Duration.millis(work.limits.maxWaitMs),
    idleGrace,
    longestAnswerChars,
    known
  })
  const running: Running = { work, runtime, reporting, watch }
  const handBacks = yield* HandBacks
  const humanLeaves = Effect.raceFirst(awaitHuman(runtime, work, known, idleGrace), handBacks.of(context.key))

  if (!Duration.isZero(saveEvery)) {
    yield* Effect.forkScoped(saveMeanwhile({ ...work, ...work.saving }, work.saving, context, saveEvery))
  }
  const end = yield* Effect.raceFirst(
    Effect.andThen(humanLeaves, Effect.result(promptRuntime(runtime, work))),
    Effect.raceFirst(watch.limit, Effect.as(interrupted, "interrupted" as const))
  )
  if (end === "interrupted") return
  if (!Result.isResult(end)) return yield* stopAtLimit(running, end)
  if (Result.isSuccess(end)) return yield* reportOutcome(running, end.success)
  const { detail: message, kind, retryAfterMs, sessionUsable } = end.failure
  const retryAfter = retryAfterMs === undefined ? {} : { retryAfterMs }
  yield* reportFailure(running, { kind: failureKindOf(kind), message, sessionUsable, ...retryAfter })
}, Effect.scoped)

/**
 * Runs one prompt of a turn to its end, however often it is delivered: the runtime knows it by its ids. Its outcome is
 * told once; a prompt that was interrupted by an abort tells nothing.
 */
import { Messenger, type WorkContext, WorkFault } from "@reprise/actor"
import { type AgentError, type AgentRuntimeShape, AgentRuntimes, type TurnOutcome } from "@reprise/agent"
import { noTokens, SessionId } from "@reprise/protocol"
import { Effect, Result, Schedule, Schema } from "effect"
import type { RunPrompt, SessionReport } from "../domain/messages.ts"
import { LiveTurns } from "../LiveTurns.ts"
import { failureKindOf } from "./failureKind.ts"
import { stopOnRuntime } from "./interruptSession.ts"
import { type Limit, makePromptWatch } from "./PromptWatch.ts"
import { reportTo } from "./reportTo.ts"

type RecordFailed = Extract<SessionReport, { readonly _tag: "RecordFailed" }>

/** A report stands at the end of an answer; more than this is not kept. */
const longestReport = 256 * 1024
const lastLinesKept = 20
const lastCharsKept = 2000

const lastLinesOf = (text: string): { lastLines?: string } => {
  const lines = text.trimEnd().split("\n").slice(-lastLinesKept).join("\n").slice(-lastCharsKept).trim()
  return lines === "" ? {} : { lastLines: lines }
}

const readTurn = Schema.decodeUnknownResult(
  Schema.Struct({ turnId: Schema.optionalKey(Schema.String), lastPromptId: Schema.optionalKey(Schema.String) })
)

/**
 * A prompt that comes again after an abort would start its turn anew, and one whose answer is recorded would disturb
 * the prompt after it: so look first (facts: OpenCode).
 */
const isWanted = Effect.fnUntraced(function* (work: RunPrompt, context: WorkContext) {
  const messenger = yield* Messenger
  const answer = yield* Effect.result(messenger.query("session-manager", "show", { id: context.key }))
  if (Result.isFailure(answer)) {
    if (answer.failure.code === "not-found") return false
    return yield* new WorkFault({ operation: "look whether the turn is open", cause: answer.failure })
  }
  const view = readTurn(answer.success)
  if (Result.isFailure(view)) return false
  const { lastPromptId, turnId } = view.success
  return turnId === work.turnId && lastPromptId === work.identity.messageId
})

const kindOf = (error: AgentError): RecordFailed["kind"] => {
  switch (error.kind) {
    case "gone":
      return "gone"
    case "session-missing":
      return "session-missing"
    case "aborted":
      return "aborted"
    default:
      return failureKindOf(error.kind)
  }
}

/** Somebody else's turn runs in the session: ours is next. */
const prompt = (runtime: AgentRuntimeShape, work: RunPrompt) =>
  runtime
    .prompt({
      runtimeSessionId: work.runtimeSessionId,
      directory: work.directory,
      promptId: work.identity,
      text: work.text,
      ...(work.model === undefined ? {} : { model: work.model }),
      ...(work.limits.maxAgentTurns === undefined ? {} : { maxTurns: work.limits.maxAgentTurns })
    })
    .pipe(Effect.retry({ while: (error) => error.kind === "busy", schedule: Schedule.spaced("2 seconds") }))

/** The end of what the agent wrote, for a human who is asked about a failure. */
const lastWritten = (runtime: AgentRuntimeShape, id: string) =>
  runtime.history(id).pipe(
    Effect.map((messages) => messages.findLast((message) => message.role === "assistant")?.content ?? []),
    Effect.map((blocks) =>
      lastLinesOf(blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n"))
    ),
    Effect.orElseSucceed(() => ({}))
  )

export const runPrompt = Effect.fn("runPrompt")(function* (work: RunPrompt, context: WorkContext, maxWaitMs: number) {
  const { identity, kind, number, runtimeSessionId, turnId } = work
  const runtimes = yield* AgentRuntimes
  const live = yield* LiveTurns
  const reporting = yield* reportTo(context)
  const interrupted = yield* live.enter({ key: context.key, runtimeSessionId, messageId: identity.messageId })
  if (!(yield* isWanted(work, context))) return yield* Effect.logInfo(`prompt ${number} of turn ${turnId} is over`)

  const of = { turnId, number, attempts: context.delivery }
  const found = yield* Effect.result(runtimes.get(work.runtime))
  if (Result.isFailure(found)) {
    const { detail: message, sessionUsable } = found.failure
    const nothing = { tokens: noTokens, cost: 0, toolCalls: 0 }
    return yield* reporting.tell("ended", {
      _tag: "RecordFailed",
      ...of,
      ...nothing,
      kind: "other",
      message,
      sessionUsable
    })
  }
  const runtime = found.success
  const watch = yield* makePromptWatch(work, runtime, SessionId.make(context.key), reporting, maxWaitMs)

  const failed = Effect.fnUntraced(function* (
    failure: Pick<RecordFailed, "kind" | "message" | "sessionUsable"> & Partial<RecordFailed>
  ) {
    const written = failure.kind === "gone" ? {} : yield* lastWritten(runtime, runtimeSessionId)
    const used = { tokens: watch.tokens(), cost: 0, toolCalls: 0, ...watch.waited() }
    yield* reporting.tell("ended", { _tag: "RecordFailed", ...of, ...used, ...written, ...failure })
  })

  const stopped = Effect.fnUntraced(function* ({ kind, message, waitedMs }: Limit) {
    yield* stopOnRuntime(runtime, runtimeSessionId)
    yield* failed({ kind, message, sessionUsable: true, ...(waitedMs === undefined ? {} : { waitedMs }) })
  })

  const answered = Effect.fnUntraced(function* (outcome: TurnOutcome) {
    yield* watch.worked
    const after = yield* Effect.option(runtime.inspect(runtimeSessionId))
    const isReport = kind === "report" || kind === "correction"
    const { context: held, cost, stopReason, text, tokens, toolCalls } = outcome
    const attempts = context.delivery + (outcome.attempts ?? 1) - 1
    const messages = after._tag === "Some" ? { messages: after.value.messageCount } : {}
    const fill = held === undefined ? {} : { context: held }
    const ended = {
      ...of,
      attempts,
      tokens,
      cost,
      toolCalls,
      ...watch.waited(),
      ...messages,
      ...fill,
      ...lastLinesOf(text)
    }
    const last = after._tag === "Some" ? after.value.lastMessage : undefined
    const why =
      stopReason === "output-limit"
        ? "turn-limit"
        : last?.causePromptId === identity.messageId && !last.finished && stopReason !== "refused"
          ? "unfinished"
          : undefined
    yield* reporting.tell(
      "ended",
      why === undefined
        ? { _tag: "RecordAnswer", ...ended, text: isReport ? text.slice(-longestReport) : "" }
        : { _tag: "RecordStopped", ...ended, why }
    )
  })

  const end = yield* Effect.raceFirst(
    Effect.result(prompt(runtime, work)),
    Effect.raceFirst(watch.limit, Effect.as(interrupted, "interrupted" as const))
  )
  if (end === "interrupted") return
  if (!Result.isResult(end)) return yield* stopped(end)
  if (Result.isSuccess(end)) return yield* answered(end.success)
  const { detail: message, retryAfterMs, sessionUsable } = end.failure
  yield* failed({
    kind: kindOf(end.failure),
    message,
    sessionUsable,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs })
  })
}, Effect.scoped)

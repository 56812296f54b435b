/** Opens, inspects, stops and answers a session on its runtime. */
import type { WorkContext } from "@reprise/actor"
import {
  type AgentError,
  type AgentRuntimeShape,
  AgentRuntimes,
  type Inspection,
  type PendingPrompt,
  type PromptReply,
  type SessionState
} from "@reprise/agent"
import { defined, type Usage } from "@reprise/protocol"
import { Duration, Effect, Schedule } from "effect"
import type { SessionReport } from "../session/inputs.ts"
import { isEnded } from "../session/state.ts"
import type { WorkOf } from "../session/work.ts"
import { holdsPrompt } from "./conversation.ts"
import { committedIn } from "./headCommit.ts"
import { OwnPrompts } from "./OwnPrompts.ts"
import { lookAgain, reportTo, sessionShown, showSession } from "./report.ts"

export const unreachable = (turnId: WorkOf<"OpenSession">["turnId"], error: AgentError): SessionReport => ({
  _tag: "RecordUnreachable",
  turnId,
  kind: error.kind === "gone" || error.kind === "unauthorized" ? error.kind : "runtime",
  message: error.detail
})

export const inspectSession = Effect.fn("inspectSession")(function* (
  work: WorkOf<"InspectSession">,
  context: WorkContext
) {
  const { tell } = yield* reportTo(context)
  const runtimes = yield* AgentRuntimes
  const { turnId } = work
  const report = yield* runtimes.get(work.runtime).pipe(
    Effect.flatMap((runtime) => runtime.inspect(work.runtimeSessionId)),
    Effect.match({
      onSuccess: ({ messageCount, state, usage }): SessionReport => ({
        _tag: "RecordInspected",
        total: usage,
        turnId,
        found: state._tag === "missing" || state._tag === "empty" ? state._tag : "usable",
        messages: messageCount
      }),
      onFailure: (error) => unreachable(turnId, error)
    })
  )
  yield* tell("inspected", report)
})

/** Nothing runs in the session, and nothing in it waits. */
export const isAtRest = ({ _tag }: SessionState): boolean => _tag === "idle" || _tag === "empty" || _tag === "missing"

/** The prompt that the newest message belongs to. */
export const newestPromptIn = ({ lastMessage }: Inspection): string | undefined =>
  lastMessage?.role === "user" ? lastMessage.id : lastMessage?.causePromptId

/**
 * Whether a human is present: their words are the newest in the session and not known yet, and the agent still works on
 * them, or has not rested for the grace. An interface that is open says nothing.
 */
export const isHumanIn = (
  inspection: Inspection,
  known: { readonly own: string; readonly prompts: ReadonlyArray<string> },
  idleGrace: Duration.Duration,
  now: number
): boolean => {
  const newest = newestPromptIn(inspection)
  if (newest === undefined || newest === known.own || known.prompts.includes(newest)) return false
  return !isAtRest(inspection.state) || now - (inspection.lastMessage?.atMs ?? 0) < Duration.toMillis(idleGrace)
}

/** For five seconds. */
const stopAttempts = { schedule: Schedule.spaced("250 millis"), times: 19 } as const

/**
 * Aborts until nothing runs: a prompt that was on its way during the first abort starts after it. A runtime that does
 * not answer runs nothing that would continue by itself.
 */
export const stopOnRuntime = Effect.fn("stopOnRuntime")(
  (runtime: AgentRuntimeShape, id: string) =>
    Effect.andThen(runtime.abort(id), runtime.inspect(id)).pipe(
      Effect.repeat({ ...stopAttempts, until: ({ state }) => isAtRest(state) })
    ),
  (stopping) => Effect.ignore(stopping)
)

/** What the session has used in all, and the model that answered last. */
export const totalUsed = (
  runtime: AgentRuntimeShape,
  id: string
): Effect.Effect<{ readonly total?: Usage; readonly model?: string }> =>
  runtime.inspect(id).pipe(
    Effect.map(({ model, state, usage }) => (state._tag === "missing" ? {} : { total: usage, ...defined({ model }) })),
    Effect.orElseSucceed(() => ({}))
  )

/** What the runtime tells of a session in which a prompt was stopped. What it does not tell is left out. */
const afterInterruption = Effect.fnUntraced(function* (runtime: AgentRuntimeShape, id: string, prompt: string) {
  const seen = yield* runtime.history(id).pipe(
    Effect.map((messages) => ({ given: holdsPrompt(messages, prompt), messages: messages.length })),
    Effect.orElseSucceed(() => ({}))
  )
  return { ...seen, ...(yield* totalUsed(runtime, id)) }
})

export const interruptSession = Effect.fn("interruptSession")(function* (
  {
    directory,
    runtime: name,
    runtimeSessionId,
    text,
    turnId
  }: Pick<WorkOf<"InterruptSession">, "directory" | "runtime" | "runtimeSessionId" | "text" | "turnId">,
  context: WorkContext
) {
  // Delivered again after its turn has ended, it would stop the next turn of the session.
  const shown = turnId === undefined ? undefined : yield* sessionShown(context)
  if (turnId !== undefined && !(shown?.turnId === turnId && shown.interrupting === true)) return
  const runtimes = yield* AgentRuntimes
  const ownPrompts = yield* OwnPrompts
  yield* ownPrompts.interrupt(runtimeSessionId)
  const found = yield* runtimes.get(name).pipe(
    Effect.tap((runtime) => stopOnRuntime(runtime, runtimeSessionId)),
    Effect.flatMap((runtime) =>
      text === undefined ? Effect.succeed({}) : afterInterruption(runtime, runtimeSessionId, text)
    ),
    Effect.orElseSucceed(() => ({}))
  )
  if (turnId === undefined) return
  const { tell } = yield* reportTo(context)
  yield* tell("interrupted", { _tag: "RecordInterrupted", turnId, ...found, ...(yield* committedIn(directory)) })
})

/** To several questions at once, the reply has a line for each. */
export const replyOf = (
  { kind, message, reply }: Pick<WorkOf<"SendReply">, "kind" | "reply" | "message">,
  asked?: PendingPrompt
): PromptReply => {
  if (kind === "permission") {
    if (reply === "once" || reply === "always") return { kind, reply }
    return { kind, reply: "reject", ...defined({ message }) }
  }
  const questions = asked?.questions.length ?? 1
  if (questions <= 1) return { kind, answers: [[reply]] }
  const lines = reply.split("\n")
  return { kind, answers: Array.from({ length: questions }, (_, n) => (lines[n] ? [lines[n]] : [])) }
}

/** The question as the runtime knows it: under this id, or, after a restart of the runtime, the same one under another. */
const findPending = (
  { kind, promptId, runtimeSessionId, text }: WorkOf<"SendReply">,
  pending: ReadonlyArray<PendingPrompt>
): PendingPrompt | undefined =>
  pending.find((prompt) => prompt.promptId === promptId) ??
  pending.find((prompt) => prompt.sessionId === runtimeSessionId && prompt.kind === kind && prompt.text === text)

/**
 * A delivered reply closes the question, so that it is never sent again to the same question asked later. When nobody
 * waits for it any more there is nothing to do: the watch over the prompt reports that.
 */
/** Whether a reply that did not reach the runtime is tried again: an agent that waits for it would wait forever. */
const mayStillBeReached = (context: WorkContext) => (error: AgentError) =>
  error.kind === "gone"
    ? showSession(context).pipe(
        Effect.map(({ status }) => !isEnded(status)),
        Effect.orElseSucceed(() => false)
      )
    : Effect.succeed(false)

export const sendReply = Effect.fn("sendReply")(function* (work: WorkOf<"SendReply">, context: WorkContext) {
  const { tell } = yield* reportTo(context)
  const runtimes = yield* AgentRuntimes
  const { directory, promptId, runtimeSessionId } = work
  const outcome = yield* Effect.gen(function* () {
    const runtime = yield* runtimes.get(work.runtime)
    const asked = findPending(work, yield* runtime.pendingPrompts(directory))
    const reply = replyOf(work, asked)
    return yield* runtime.reply({ runtimeSessionId, promptId: asked?.promptId ?? promptId, reply })
  }).pipe(
    Effect.tapError((error) => Effect.logWarning(`the reply was not delivered: ${error.message}`)),
    Effect.retry({ schedule: lookAgain, while: mayStillBeReached(context) }),
    Effect.orElseSucceed(() => undefined)
  )
  if (outcome === "delivered") yield* tell("delivered", { _tag: "RecordAgentQuestionGone", promptId })
})

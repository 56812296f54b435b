/**
 * Runs one turn from its prompt to its end, over processes that may end. What the agent replays says whether it was given
 * the prompt: without its mark it is sent, with it a short text continues the turn, so that the model sees the prompt once.
 */
import { addTokens, defined, noTokens, type Tokens } from "@reprise/protocol"
import { Clock, Effect, Result } from "effect"
import type { AgentError } from "../../AgentError.ts"
import type { Prompt, TurnOutcome } from "../../AgentRuntimeShape.ts"
import { afterEnd, endsText, noEnds, type RestartHistory } from "../../restarts.ts"
import { steadyMs } from "../../steadyMs.ts"
import { type AcpAdapter, callFailed, save } from "../AcpAdapter.ts"
import { holds } from "../conversation/Conversation.ts"
import { answerTo } from "../conversation/history.ts"
import { goOnText, withMark } from "../conversation/marker.ts"
import { aborted, gone, other } from "../failures.ts"
import { AgentEnded, type AgentProcess, CallRefused } from "../process/AgentProcess.ts"
import { agentMethods } from "../process/methods.ts"
import { findPrompted, type Prompted, withPrompted } from "../session/AcpRecord.ts"
import type { AcpSession, LiveTurn } from "../session/AcpSession.ts"
import { currentModel, modelOption, optionsIn, valuesOf, variantOption } from "../session/configOptions.ts"
import { load, reread, rereadSoon } from "../session/loadSession.ts"
import { withdrawAll } from "./answerRequests.ts"
import { promptEnd, stopReasonOf } from "./outcome.ts"
import { settleWrites } from "./refusedWrites.ts"

/** How many times in a row the agent may end by itself without having said anything before the turn fails. */
const maxFruitlessTries = 5
/** How many times a turn may be taken up again in all after its agent has ended by itself. */
const maxTries = 20

interface TurnRun {
  readonly adapter: AcpAdapter
  readonly session: AcpSession
  readonly live: LiveTurn
  readonly prompt: Prompt
  tokens: Tokens
  tries: number
  fruitless: number
  /** When somebody killed the agent. */
  killed: RestartHistory
  /** The session's cost before the turn. */
  readonly costBefore: number
}

const messageIdOf = ({ prompt }: TurnRun): string => prompt.promptId.messageId

const record = ({ adapter, session, ...run }: TurnRun, change: Partial<Prompted>) =>
  save(adapter, session, withPrompted(session.record, run.prompt.promptId.messageId, change))

/** Fails as aborted. The abort may have come before the prompt was recorded. */
const abandon = Effect.fnUntraced(function* (run: TurnRun) {
  yield* record(run, { aborted: true, endedAtMs: yield* Clock.currentTimeMillis })
  return yield* aborted
})

type Choice = NonNullable<ReturnType<typeof modelOption>>

/** `what`: what is chosen, for people. Fails for what the agent does not offer. */
const choose = Effect.fnUntraced(function* (
  adapter: AcpAdapter,
  session: AcpSession,
  process: AgentProcess,
  what: string,
  option: Choice | undefined,
  value: string
) {
  if (option?.currentValue === value) return
  if (option === undefined || !valuesOf(option).includes(value)) {
    const offered = option === undefined ? "none to choose" : valuesOf(option).slice(0, 20).join(", ")
    return yield* other("prompt", `The agent does not offer the ${what} ${value}, but: ${offered}.`)
  }
  const { agentId: sessionId } = session
  const answer = yield* process
    .call(agentMethods.setConfigOption, { sessionId, configId: option.id, value })
    .pipe(Effect.mapError(callFailed(adapter, "prompt")))
  const now = optionsIn(answer)
  session.configOptions =
    now.length > 0 ? now : session.configOptions.map((it) => (it === option ? { ...option, currentValue: value } : it))
})

/** Fails for a model, or a variant of it, that the agent does not offer. */
export const chooseModel = Effect.fnUntraced(function* (
  adapter: AcpAdapter,
  session: AcpSession,
  process: AgentProcess,
  { model, variant }: { readonly model?: string | undefined; readonly variant?: string | undefined }
) {
  if (model !== undefined) {
    yield* choose(adapter, session, process, "model", modelOption(session.configOptions), model)
  }
  if (variant !== undefined) {
    yield* choose(adapter, session, process, "variant", variantOption(session.configOptions), variant)
  }
})

/** What is to be sent now. */
const nextText = (run: TurnRun): string => {
  const { live, prompt, session } = run
  const words = live.toSay.splice(0)
  if (words.length > 0) return words.join("\n")
  return holds(session.conversation.entries, messageIdOf(run)) ? goOnText : prompt.text
}

const isRepeat = (run: TurnRun): boolean => (findPrompted(run.session.record, messageIdOf(run))?.sent ?? 0) > 0

/** Sends once, and waits for the end. */
const send = Effect.fnUntraced(function* (run: TurnRun) {
  const { adapter, live, prompt, session } = run
  const { loadedIn } = session
  const before = yield* load(adapter, session, "prompt")
  // A prompt that failed may have been dropped by its agent, or kept.
  if (before === loadedIn && isRepeat(run) && live.toSay.length === 0) yield* reread(adapter, session, before)
  const process = yield* load(adapter, session, "prompt")
  yield* chooseModel(adapter, session, process, {
    model: prompt.model ?? session.record.model,
    variant: prompt.variant
  })
  if (live.aborted) return yield* abandon(run)
  const text = nextText(run)
  const n = findPrompted(session.record, messageIdOf(run))?.sent ?? 0
  yield* record(run, { sent: n + 1 })
  const marked = withMark(text, messageIdOf(run), n)
  session.conversation.say(marked)
  session.updatedAtMs = yield* Clock.currentTimeMillis
  run.tries += 1
  process.resetOutput()
  if (live.aborted) return yield* abandon(run)
  const content = [{ type: "text", text: marked }]
  const called = yield* Effect.result(
    process.call(agentMethods.prompt, { sessionId: session.agentId, prompt: content }, null)
  )
  yield* withdrawAll(live)
  if (Result.isSuccess(called)) yield* rereadSoon(adapter, session, process)
  return called
})

const complete = Effect.fnUntraced(function* (run: TurnRun, finish: string) {
  const { live, session } = run
  const { spokenAfter, text, toolCalls } = answerTo(session.conversation.entries, messageIdOf(run))
  const { contextSize, contextTokens, cost } = session.told
  const model = currentModel(session.configOptions)
  const outcome: TurnOutcome = {
    text,
    stopReason: live.refused ? "refused" : stopReasonOf(finish),
    tokens: run.tokens,
    cost: Math.max(0, cost - run.costBefore),
    toolCalls,
    finish,
    ...defined({ model }),
    ...(contextTokens === undefined ? {} : { context: { tokens: contextTokens, ...defined({ limit: contextSize }) } }),
    ...(run.tries > 1 ? { attempts: run.tries } : {})
  }
  yield* record(run, { outcome, endedAtMs: yield* Clock.currentTimeMillis })
  return spokenAfter ? { ...outcome, spokenAfter } : outcome
})

/** The agent ended. Fails when the turn is not to be taken up again, and returns when it is. */
const settleEnd = Effect.fnUntraced(function* (run: TurnRun, ended: AgentEnded, hasSaid: boolean) {
  const { adapter } = run
  if (ended.killed === true) {
    const next = afterEnd(run.killed, { answered: hasSaid, now: yield* steadyMs }, adapter.restarts)
    if (next._tag === "restart") {
      run.killed = next.history
      return yield* Effect.sleep(`${next.pauseMs} millis`)
    }
    const reason = `It ${endsText(next)} in this turn. The last time: ${ended.reason}`
    return yield* callFailed(adapter, "prompt")(new AgentEnded({ reason }))
  }
  run.fruitless = hasSaid ? 0 : run.fruitless + 1
  if (ended.broken === true || run.fruitless > maxFruitlessTries || run.tries >= maxTries) {
    return yield* callFailed(adapter, "prompt")(ended)
  }
})

/** Sends once; undefined when the turn must go on. */
const advance = Effect.fnUntraced(function* (run: TurnRun): Effect.fn.Return<TurnOutcome | undefined, AgentError> {
  const { adapter, live, session } = run
  if (live.aborted) return yield* abandon(run)
  const heard = session.updatedAtMs
  const called = yield* send(run)
  if (live.aborted) return yield* abandon(run)
  if (Result.isFailure(called)) {
    if (called.failure instanceof CallRefused) return yield* callFailed(adapter, "prompt")(called.failure)
    const hasSaid = session.updatedAtMs > heard && live.announced
    live.announced = false
    yield* settleEnd(run, called.failure, hasSaid)
    return undefined
  }
  const end = promptEnd(called.success)
  if (end === undefined) return yield* gone("prompt", "The agent ended the turn with an answer that names no reason.")
  run.tokens = addTokens(run.tokens, end.tokens)
  if (live.refused) return yield* complete(run, end.finish)
  yield* settleWrites(adapter, session, live)
  if (live.aborted) return yield* abandon(run)
  if (live.toSay.length > 0) return undefined
  return end.finish === "cancelled" ? yield* abandon(run) : yield* complete(run, end.finish)
})

/** Succeeds with the turn's outcome, however many processes that takes. */
export const runAcpTurn = Effect.fn("Acp.turn")(function* (
  adapter: AcpAdapter,
  session: AcpSession,
  live: LiveTurn,
  prompt: Prompt
): Effect.fn.Return<TurnOutcome, AgentError> {
  const costBefore = session.told.cost
  const counts = { tokens: noTokens, tries: 0, fruitless: 0, killed: noEnds }
  const run: TurnRun = { adapter, session, live, prompt, ...counts, costBefore }
  return yield* Effect.repeat(advance(run), { until: (outcome) => outcome !== undefined })
})

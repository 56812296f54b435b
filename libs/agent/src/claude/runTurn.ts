/**
 * One turn, from its prompt to its end, over processes that die. The outcome is always read from the transcript, which
 * also tells how to go on: a prompt of which nothing came is sent again with its uuid; a turn that was cut off later is
 * continued by a prompt of its own, whose uuid is written down before it is sent (facts: Claude).
 */
import { addTokens } from "@reprise/protocol"
import { Clock, Effect, Option, Schema, Stream } from "effect"
import { AgentError } from "../AgentError.ts"
import type { Prompt, TurnOutcome } from "../AgentRuntimeShape.ts"
import type { RuntimeEvent } from "../RuntimeEvent.ts"
import { type Asking, judge } from "./asking.ts"
import type { ClaudeStateFault } from "./ClaudeUnavailable.ts"
import { isFinal, kindOfFailure } from "./failures.ts"
import type { KnownSession, KnownSessions } from "./KnownSessions.ts"
import type { LiveTurn } from "./LiveTurn.ts"
import type { ClaudeSdk } from "./loadSdk.ts"
import { observe } from "./observe.ts"
import { promptUuid } from "./promptUuid.ts"
import { findPrompted, type Prompted, withPrompted } from "./SessionRecord.ts"
import { type QueryBroken, startQuery } from "./startQuery.ts"
import { ownedBy, type Turn, turnOf } from "./turnOf.ts"

export interface TurnOptions {
  readonly sdk: ClaudeSdk
  readonly sessions: KnownSessions
  readonly environment: Readonly<Record<string, string>>
  readonly tell: (event: RuntimeEvent) => Effect.Effect<void>
  /** How long Claude may wait for the model's vendor by itself before the turn is given back. */
  readonly patienceMs: number
  /** How often the model is asked in a turn that does not say. */
  readonly maxTurns: number
}

/** How often a turn may lose its process without a line more in the transcript before it is given up. */
const maxFruitlessTries = 5
/** How long a process may take to end after its turn has. */
const lastWordsMs = 10_000

/** What continues a turn that was cut off. */
export const continuationText = "Your turn was interrupted. Continue where you left off."

const failed = (fields: Omit<ConstructorParameters<typeof AgentError>[0], "operation">) =>
  new AgentError({ operation: "prompt", ...fields })

const aborted = failed({ kind: "aborted", detail: "The turn was aborted.", sessionUsable: true })

const lost = (id: string) =>
  failed({
    kind: "session_missing",
    detail: `Claude's transcript of session ${id} is gone. Start a new session.`,
    sessionUsable: false
  })

const fault = (error: ClaudeStateFault) => failed({ kind: "other", detail: error.message, sessionUsable: true })

const vendorFailed = ({ error }: Extract<Turn, { _tag: "failed" }>) => {
  const kind = kindOfFailure(error)
  return failed({ kind, detail: error.text, sessionUsable: kind !== "context_overflow" })
}

/** A message that the SDK's types leave out: what became of a prompt. */
const decodeLifecycle = Schema.decodeUnknownOption(
  Schema.Struct({ type: Schema.Literal("command_lifecycle"), state: Schema.String })
)

/** How a try ended: the process did; the vendor is waited for, and for too long; or the session is lost. */
type Ended = { readonly _tag: "ended"; readonly limited: boolean } | QueryBroken | AgentError

export const runTurn = Effect.fn("Claude.turn")(function* (
  options: TurnOptions,
  known: KnownSession,
  live: LiveTurn,
  prompt: Prompt
): Effect.fn.Return<TurnOutcome, AgentError> {
  const { patienceMs, sdk, sessions, tell } = options
  const { messageId } = prompt.promptId
  const at = { sessionId: known.record.id, causePromptId: messageId }
  const asking: Asking = { sessions, known, live, tell }
  const prompted = (): Prompted | undefined => findPrompted(known.record, messageId)
  const save = (next: Prompted) =>
    Effect.mapError(
      sessions.update(known, (record) => withPrompted(record, next)),
      fault
    )
  /** Notes once that there is a transcript. */
  const refresh = Effect.gen(function* () {
    yield* sessions.refresh(known)
    const isNew = !known.record.begun && known.entries.some(({ kind }) => kind === "prompt")
    if (isNew) yield* sessions.update(known, (record) => ({ ...record, begun: true }))
  }).pipe(Effect.mapError(fault))

  let tries = 0

  /** The subagents' tokens on top, and how many processes it took. */
  const complete = Effect.fnUntraced(function* (outcome: TurnOutcome, stopReason: TurnOutcome["stopReason"]) {
    const { fromMs, untilMs } = ownedBy(known.entries, new Set(prompted()?.uuids))
    const subagents = yield* sessions.subagentTokens(known, fromMs, untilMs)
    const tokens = addTokens(outcome.tokens, subagents)
    return { ...outcome, stopReason, tokens, ...(tries > 1 ? { attempts: tries } : {}) }
  })

  /** An abort may have come before the prompt was written down. */
  const abandon = Effect.gen(function* () {
    const it = prompted()
    if (it !== undefined && it.aborted !== true) yield* save({ ...it, aborted: true })
    return yield* aborted
  })

  /** The outcome of a turn that nothing is left to do for; undefined for one that has to go on. */
  const outcomeOf = Effect.fnUntraced(function* (turn: Turn) {
    const { aborted: isAborted = false, limited = false, refused = false } = prompted() ?? {}
    if (isAborted || live.aborted) return yield* abandon
    if (turn._tag === "finished") return yield* complete(turn.outcome, turn.outcome.stopReason)
    if (turn._tag === "interrupted") return refused ? yield* complete(turn.outcome, "refused") : yield* aborted
    return turn._tag === "unfinished" && limited ? yield* complete(turn.outcome, "output-limit") : undefined
  })

  /** The uuid of the next try, written down. */
  const nextTry = Effect.fnUntraced(function* (turn: Turn) {
    const before = prompted()
    if (before === undefined) {
      const uuid = promptUuid(messageId, 0)
      yield* save({ messageId, uuids: [uuid] })
      return { uuid, text: prompt.text }
    }
    const { uuids } = before
    const [last, n] = [uuids[uuids.length - 1] ?? uuids[0], uuids.length]
    const isNew = turn._tag === "unfinished" || turn._tag === "failed"
    const uuid = isNew ? promptUuid(messageId, n) : last
    if (isNew) yield* save({ messageId, uuids: [...uuids, uuid] })
    return { uuid, text: uuid === uuids[0] ? prompt.text : continuationText }
  })

  const runOnce = Effect.fnUntraced(function* (uuid: string, text: string) {
    const judgeHere = Effect.runPromiseWith(yield* Effect.context<never>())
    const query = yield* startQuery({
      sdk,
      record: known.record,
      resumes: known.entries.some(({ kind }) => kind === "prompt"),
      uuid,
      text,
      environment: options.environment,
      ...(prompt.model === undefined ? {} : { model: prompt.model }),
      maxTurns: prompt.maxTurns ?? options.maxTurns,
      canUseTool: (tool, input, { signal, toolUseID: id }) => judgeHere(judge(asking, { id, tool, input }), { signal })
    })
    live.process = query
    let [begun, over] = [false, false]
    let end: Ended = { _tag: "ended", limited: false }
    const listen = query.messages.pipe(
      Stream.runForEach((message) =>
        Effect.gen(function* () {
          const now = yield* Clock.currentTimeMillis
          const events = observe(message, live, at, now)
          if (events.length > 0) live.told = true
          yield* Effect.forEach(events, tell, { discard: true })
          const { retrying } = live
          if (retrying !== undefined) {
            const { kind, message: detail, sinceMs, untilMs } = retrying
            const retryAfterMs = untilMs - now
            if (isFinal(kind) || retryAfterMs > patienceMs || now - sinceMs > patienceMs) {
              const later = isFinal(kind) ? {} : { retryAfterMs }
              end = failed({ kind, detail, sessionUsable: true, ...later })
              query.kill()
            }
          }
          // Called done without having begun: there is nothing to wait for.
          const lifecycle = Option.getOrUndefined(decodeLifecycle(message))
          begun ||= lifecycle?.state === "started"
          if (lifecycle !== undefined && lifecycle.state !== "queued" && !begun) query.finish()
          if (message.type !== "result") return
          over = true
          if (message.subtype === "error_max_turns") end = { _tag: "ended", limited: true }
          query.finish()
          yield* Effect.forkScoped(
            Effect.andThen(
              Effect.sleep(`${lastWordsMs} millis`),
              Effect.sync(() => query.kill())
            )
          )
        })
      ),
      Effect.match({
        onSuccess: (): Ended => end,
        // A process whose turn has failed says so with its exit code too.
        onFailure: (broken): Ended => (over || end instanceof AgentError ? end : broken)
      })
    )
    return yield* listen
  }, Effect.scoped)

  let fruitless = 0
  let before = -1
  for (;;) {
    yield* refresh
    if (known.record.begun && known.transcript === undefined) return yield* lost(known.record.id)
    const turn = turnOf(known.entries, prompted()?.uuids ?? [])
    const outcome = yield* outcomeOf(turn)
    if (outcome !== undefined) return outcome
    fruitless = before === known.entries.length ? fruitless + 1 : 0
    before = known.entries.length
    if (fruitless > maxFruitlessTries) {
      const detail = `Claude ended ${fruitless} times during this turn. Does '${sdk.program} --version' run here?`
      return yield* failed({ kind: "other", detail, sessionUsable: true })
    }
    if (known.entries.length === 0) yield* Effect.mapError(sessions.dropEmpty(known), fault)
    const { text, uuid } = yield* nextTry(turn)
    tries += 1
    const ended = yield* runOnce(uuid, text).pipe(
      Effect.catchTag("QueryBroken", (broken) => Effect.succeed<Ended>(broken)),
      Effect.ensuring(
        Effect.sync(() => {
          live.process = undefined
          live.retrying = undefined
        })
      )
    )
    yield* refresh
    const now = prompted()
    if (live.aborted) return yield* abandon
    if (ended instanceof AgentError) return yield* ended
    if (ended._tag === "QueryBroken") {
      yield* Effect.logDebug(`a process of Claude broke off: ${ended.reason}`)
      yield* Effect.sleep("100 millis")
      continue
    }
    if (ended.limited && now !== undefined) yield* save({ ...now, limited: true })
    const after = turnOf(known.entries, prompted()?.uuids ?? [])
    if (after._tag === "failed") return yield* vendorFailed(after)
  }
})

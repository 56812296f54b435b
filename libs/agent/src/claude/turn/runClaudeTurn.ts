/**
 * Runs one turn from its prompt to its end, over processes that may die. The outcome is always read from the transcript,
 * which also says how to proceed: a prompt without any answer is sent again with its uuid; a turn that was cut off later
 * is continued by a further prompt, whose uuid is recorded before it is sent.
 */
import { addTokens } from "@reprise/protocol"
import { Effect } from "effect"
import { AgentError, promptFailed } from "../../AgentError.ts"
import type { Prompt, TurnOutcome } from "../../AgentRuntimeShape.ts"
import { afterEnd, endsText, noEnds, type RestartHistory } from "../../restarts.ts"
import { steadyMs } from "../../steadyMs.ts"
import { fault, kindOfFailure } from "../failures.ts"
import type { KnownSession, KnownSessions } from "../session/KnownSessions.ts"
import type { LiveTurn } from "../session/LiveTurn.ts"
import { findPrompted, type Prompted, promptUuid, withPrompted } from "../session/SessionRecord.ts"
import { ownedBy, type Turn, turnOf } from "../transcript/turnOf.ts"
import { type QueryEnd, runQuery, type TurnOptions } from "./runQuery.ts"

/** How many times in a row the turn's process may end by itself without a new transcript line before the turn fails. */
const maxFruitlessTries = 5

/** Continues a turn that was cut off. */
const continuationText = "Your turn was interrupted. Continue where you left off."

/** A turn in progress: what it works with, and how its tries went so far. */
interface TurnRun {
  readonly options: TurnOptions
  readonly sessions: KnownSessions
  readonly known: KnownSession
  readonly live: LiveTurn
  readonly prompt: Prompt
  /** Processes that were started for it. */
  tries: number
  /** Tries in a row that added nothing to the transcript, but those whose process somebody killed. */
  fruitless: number
  /** When somebody killed the process. */
  killed: RestartHistory
  /** The process of the latest try was killed. */
  wasKilled: boolean
  /** Transcript entries before the latest try. */
  entryCount: number
}

const aborted = promptFailed({ kind: "aborted", detail: "The turn was aborted.", sessionUsable: true })

const lost = (id: string) =>
  promptFailed({
    kind: "session-missing",
    detail: `Claude's transcript of session ${id} is gone. Start a new session.`,
    sessionUsable: false
  })

const vendorFailed = ({ error }: Extract<Turn, { _tag: "failed" }>) => {
  const kind = kindOfFailure(error)
  return promptFailed({ kind, detail: error.text, sessionUsable: kind !== "context-overflow" })
}

/** The record of this turn's prompt; undefined before it was first sent. */
const promptedOf = ({ known, prompt }: TurnRun): Prompted | undefined =>
  findPrompted(known.record, prompt.promptId.messageId)

const currentTurn = (run: TurnRun): Turn => turnOf(run.known.entries, promptedOf(run)?.uuids ?? [])

const save = ({ known, sessions }: TurnRun, next: Prompted) =>
  Effect.mapError(
    sessions.update(known, (record) => withPrompted(record, next)),
    fault("prompt")
  )

/** Reads the transcript, and records once that there is one. */
const refresh = ({ known, sessions }: TurnRun) =>
  Effect.gen(function* () {
    yield* sessions.refresh(known)
    const isNew = !known.record.begun && known.entries.some(({ kind }) => kind === "prompt")
    if (isNew) yield* sessions.update(known, (record) => ({ ...record, begun: true }))
  }).pipe(Effect.mapError(fault("prompt")))

/** Adds the subagents' tokens and the number of processes. */
const complete = Effect.fnUntraced(function* (
  run: TurnRun,
  outcome: TurnOutcome,
  stopReason: TurnOutcome["stopReason"]
) {
  const { fromMs, untilMs } = ownedBy(run.known.entries, new Set(promptedOf(run)?.uuids))
  const subagents = yield* run.sessions.subagentTokens(run.known, fromMs, untilMs)
  const tokens = addTokens(outcome.tokens, subagents)
  return { ...outcome, stopReason, tokens, ...(run.tries > 1 ? { attempts: run.tries } : {}) }
})

/** Fails as aborted. The abort may have come before the prompt was recorded. */
const abandon = Effect.fnUntraced(function* (run: TurnRun) {
  const prompted = promptedOf(run)
  if (prompted !== undefined && prompted.aborted !== true) yield* save(run, { ...prompted, aborted: true })
  return yield* aborted
})

/** The outcome of a turn that has ended; undefined when the turn must continue. */
const outcomeOf = Effect.fnUntraced(function* (run: TurnRun, turn: Turn) {
  const { aborted: isAborted = false, limited = false, refused = false } = promptedOf(run) ?? {}
  if (isAborted || run.live.aborted) return yield* abandon(run)
  if (turn._tag === "finished") return yield* complete(run, turn.outcome, turn.outcome.stopReason)
  if (turn._tag === "interrupted") return refused ? yield* complete(run, turn.outcome, "refused") : yield* aborted
  return turn._tag === "unfinished" && limited ? yield* complete(run, turn.outcome, "output-limit") : undefined
})

/** The uuid and text of the next try. A new uuid is recorded first. */
const nextTry = Effect.fnUntraced(function* (run: TurnRun, turn: Turn) {
  const { messageId } = run.prompt.promptId
  const before = promptedOf(run)
  if (before === undefined) {
    const uuid = promptUuid(messageId, 0)
    yield* save(run, { messageId, uuids: [uuid] })
    return { uuid, text: run.prompt.text }
  }
  const { uuids } = before
  const [last, n] = [uuids[uuids.length - 1] ?? uuids[0], uuids.length]
  const isNew = turn._tag === "unfinished" || turn._tag === "failed"
  const uuid = isNew ? promptUuid(messageId, n) : last
  if (isNew) yield* save(run, { messageId, uuids: [...uuids, uuid] })
  return { uuid, text: uuid === uuids[0] ? run.prompt.text : continuationText }
})

/** Claude could not be reached, and the session is as it was. */
const gone = ({ options }: TurnRun, ends: string) =>
  promptFailed({
    kind: "gone",
    detail: `Claude ${ends} in this turn. The session is kept. Does '${options.sdk.program} --version' run here? To go on is to start it again.`,
    sessionUsable: true
  })

/** Counts tries that added nothing, and fails when there were too many in a row. Waits before a process that was killed is started again. */
const requireProgress = Effect.fnUntraced(function* (run: TurnRun) {
  const { length } = run.known.entries
  const isFruitless = run.entryCount === length
  run.entryCount = length
  if (run.wasKilled) {
    const next = afterEnd(run.killed, { answered: !isFruitless, now: yield* steadyMs }, run.options.restarts)
    if (next._tag === "give-up") return yield* gone(run, endsText(next))
    run.killed = next.history
    return yield* Effect.sleep(`${next.pauseMs} millis`)
  }
  run.fruitless = isFruitless ? run.fruitless + 1 : 0
  if (run.fruitless > maxFruitlessTries) return yield* gone(run, `ended ${run.fruitless} times without a word`)
})

/** Returns the outcome when the turn has ended, else tries once to bring it to its end. */
const advance = Effect.fnUntraced(function* (run: TurnRun): Effect.fn.Return<TurnOutcome | undefined, AgentError> {
  const { known, sessions } = run
  yield* refresh(run)
  if (known.record.begun && known.transcript === undefined) return yield* lost(known.record.id)
  const turn = currentTurn(run)
  const outcome = yield* outcomeOf(run, turn)
  if (outcome !== undefined) return outcome
  yield* requireProgress(run)
  if (known.entries.length === 0) yield* Effect.mapError(sessions.dropEmpty(known), fault("prompt"))
  const { text, uuid } = yield* nextTry(run, turn)
  run.tries += 1
  const ended = yield* runQuery(run, uuid, text)
  yield* refresh(run)
  return yield* settleTry(run, ended)
})

/** Decides, from the end of a try, whether the turn fails; undefined when the turn must be read again. */
const settleTry = Effect.fnUntraced(function* (run: TurnRun, ended: QueryEnd) {
  if (run.live.aborted) return yield* abandon(run)
  if (ended instanceof AgentError) return yield* ended
  run.wasKilled = ended._tag === "QueryBroken" && ended.killed
  if (ended._tag === "QueryBroken") {
    yield* Effect.logDebug(`A process of Claude broke off: ${ended.reason}`)
    yield* Effect.sleep("100 millis")
    return undefined
  }
  const prompted = promptedOf(run)
  if (ended.limited && prompted !== undefined) yield* save(run, { ...prompted, limited: true })
  const after = currentTurn(run)
  return after._tag === "failed" ? yield* vendorFailed(after) : undefined
})

/** Succeeds with the turn's outcome, however many processes that takes. */
export const runClaudeTurn = Effect.fn("Claude.turn")(function* (
  options: TurnOptions,
  known: KnownSession,
  live: LiveTurn,
  prompt: Prompt
): Effect.fn.Return<TurnOutcome, AgentError> {
  const { sessions } = options
  const counts = { tries: 0, fruitless: 0, killed: noEnds, wasKilled: false, entryCount: -1 }
  const run: TurnRun = { options, sessions, known, live, prompt, ...counts }
  return yield* Effect.repeat(advance(run), { until: (outcome) => outcome !== undefined })
})

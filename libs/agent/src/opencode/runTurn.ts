/**
 * One turn, from its prompt to its end, over lost connections and restarts.
 *
 * The prompt is sent as a request that stays open for the whole turn, and beside it the session's status is polled.
 * Measured against the other way, `prompt_async`: that answers 204 whatever happens, and the status says idle for a
 * moment after it, so that a turn that has not begun cannot be told from one that failed. The open request tells the
 * end at once and refusals as such; sent again with the same ids it joins the turn that runs. The polls end the turn
 * when the answer never comes, and see what no answer tells: a server that is gone, a vendor that is waited for.
 * The outcome is read from the list of messages in either case.
 */
import type { Session } from "@opencode-ai/sdk/v2/client"
import { addTokens } from "@reprise/protocol"
import { Clock, Effect, Option, Predicate } from "effect"
import { AgentError } from "../AgentError.ts"
import type { Prompt, TurnOutcome } from "../AgentRuntimeShape.ts"
import { kindOfRetry } from "./ActivityTracker.ts"
import { type Calls, type Refused, runtimeGone } from "./calls.ts"
import type { ContextLimit } from "./contextLimits.ts"
import type { EventFeed } from "./EventFeed.ts"
import { failureOf } from "./failures.ts"
import { type Listed, modelOfLast, subagentsOf, type Turn, tokensOf, turnOf } from "./turnOf.ts"

export interface TurnOptions {
  readonly calls: Calls
  readonly feed: EventFeed
  readonly graceMs: number
  readonly pollMs: number
  /** How long OpenCode may wait for the model's vendor by itself before the turn is given back. */
  readonly patienceMs: number
  readonly limitOf: ContextLimit
}

/** How often a turn may lose its server without a message more before it is given up. */
const maxFruitlessTries = 5
/** Polls in a row that must agree that the session is idle while the answer is still awaited. */
const idlePolls = 3

const failed = (fields: Omit<ConstructorParameters<typeof AgentError>[0], "operation">) =>
  new AgentError({ operation: "prompt", ...fields })

const other = (detail: string, sessionUsable: boolean) => failed({ kind: "other", detail, sessionUsable })

export const modelOf = (model: string | undefined) => {
  const slash = model?.indexOf("/") ?? -1
  if (model === undefined || slash < 1) return undefined
  return { providerID: model.slice(0, slash), modelID: model.slice(slash + 1) }
}

/** Why waiting for the open request has ended; an error: the model's vendor is waited for, and for too long. */
type Ended = "answered" | "lost" | "idle" | AgentError

export const runTurn = Effect.fn("OpenCode.turn")(function* (
  options: TurnOptions,
  session: Session,
  prompt: Prompt
): Effect.fn.Return<TurnOutcome, AgentError> {
  const { calls, feed, graceMs, limitOf, patienceMs, pollMs } = options
  const sessionID = session.id
  const { directory } = session
  const { messageId, partId } = prompt.promptId
  const model =
    modelOf(prompt.model) ??
    (session.model === undefined ? undefined : { providerID: session.model.providerID, modelID: session.model.id })

  const notTaken = `OpenCode did not take prompt ${messageId}: its ids were used before, in another session. Choose new ones.`
  const refused = (error: Refused) =>
    error.status === 404
      ? failed({ kind: "session_missing", detail: `OpenCode has no session ${sessionID}.`, sessionUsable: false })
      : other(`${error.message}. Look at OpenCode's log, or start a new session.`, true)

  const list = calls
    .reaching("messages", (client, signal) => client.session.messages({ sessionID, directory }, { signal }))
    .pipe(Effect.catchTag("Refused", (error) => Effect.fail(refused(error))))
  const status = calls.once("status", (client, signal) => client.session.status({ directory }, { signal }), {
    timeoutMs: 5000
  })
  const isBusy = calls
    .reaching("status", (client, signal) => client.session.status({ directory }, { signal }))
    .pipe(
      Effect.map((all) => (all[sessionID]?.type ?? "idle") !== "idle"),
      Effect.catchTag("Refused", (error) => Effect.fail(refused(error)))
    )

  let sends = 0

  /** The subagents' tokens and cost on top. */
  const complete = Effect.fnUntraced(function* (messages: ReadonlyArray<Listed>, outcome: TurnOutcome) {
    let { cost, tokens } = outcome
    for (const id of subagentsOf(messages, messageId)) {
      const subagent = yield* Effect.option(
        calls.once("subagent", (client, signal) => client.session.get({ sessionID: id, directory }, { signal }))
      )
      if (Option.isNone(subagent)) continue
      cost += subagent.value.cost ?? 0
      if (subagent.value.tokens !== undefined) tokens = addTokens(tokens, tokensOf(subagent.value.tokens))
    }
    const model = modelOfLast(messages)
    const limit = outcome.context === undefined || model === undefined ? undefined : yield* limitOf(directory, model)
    const context =
      outcome.context === undefined || limit === undefined ? {} : { context: { ...outcome.context, limit } }
    return { ...outcome, ...context, cost, tokens, ...(sends > 1 ? { attempts: sends } : {}) }
  })

  const failedTurn = (turn: Extract<Turn, { _tag: "failed" }>) => {
    const { message, ...failure } = failureOf(turn.error)
    return failed({ ...failure, detail: message })
  }

  const send = calls
    .once(
      "prompt",
      (client, signal) =>
        client.session.prompt(
          {
            sessionID,
            directory,
            messageID: messageId,
            parts: [{ id: partId, type: "text", text: prompt.text }],
            ...(model === undefined ? {} : { model }),
            ...(prompt.agent === undefined ? {} : { agent: prompt.agent })
          },
          { signal }
        ),
      { timeoutMs: 0 }
    )
    .pipe(
      // Accepted, and nothing said of the turn: the polls see its end.
      Effect.flatMap((answer) =>
        Predicate.hasProperty(answer, "info") ? Effect.succeed<Ended>("answered") : Effect.never
      ),
      Effect.catchTag("Unreachable", () => Effect.succeed<Ended>("lost"))
    )

  /** A prompt's refusal names no reason; the event that goes with it does. */
  const explain = Effect.fnUntraced(function* (error: Refused, sentAt: number) {
    if (error.status < 500) return refused(error)
    const told = yield* feed.errorSince(sessionID, sentAt)
    if (Option.isSome(told)) return other(`OpenCode refused the prompt: ${told.value}`, true)
    return turnOf(yield* list, messageId)._tag === "absent" ? other(notTaken, true) : refused(error)
  })

  /** Ends when the session has been idle for some polls, or the vendor away for too long; fails when the server is. */
  const watch = Effect.gen(function* (): Effect.fn.Return<Ended, AgentError> {
    const startedAt = yield* Clock.currentTimeMillis
    let heardAt = startedAt
    let waitingSince: number | undefined
    let idle = 0
    while (idle < idlePolls) {
      yield* Effect.sleep(`${pollMs} millis`)
      const seen = yield* Effect.result(status)
      const now = yield* Clock.currentTimeMillis
      if (seen._tag === "Failure") {
        if (now - heardAt >= graceMs) return yield* runtimeGone("prompt", seen.failure.message, graceMs)
        continue
      }
      heardAt = now
      const state = seen.success[sessionID] ?? { type: "idle" as const }
      idle = state.type === "idle" ? idle + 1 : 0
      if (state.type !== "retry") {
        waitingSince = undefined
        continue
      }
      waitingSince ??= now
      const retryAfterMs = Math.max(0, state.next - now)
      if (retryAfterMs <= patienceMs && now - waitingSince <= patienceMs) continue
      const kind = kindOfRetry(state.message)
      return failed({ kind, detail: state.message, sessionUsable: true, retryAfterMs })
    }
    return "idle"
  })

  /**
   * A message that a killed server left open and that called no tool would be the last one the model is shown, as if
   * to be finished, which some models refuse: it is taken back. With a tool call, the call's interruption follows.
   */
  const repair = Effect.fnUntraced(function* (turn: Turn) {
    for (const { info, parts } of turn._tag === "unfinished" ? turn.open : []) {
      if (parts.some((part) => part.type === "tool")) continue
      yield* Effect.ignore(
        calls.once("repair", (client, signal) =>
          client.session.deleteMessage({ sessionID, directory, messageID: info.id }, { signal })
        )
      )
    }
  })

  let fruitless = 0
  let before: number | undefined
  for (;;) {
    const messages = yield* list
    const turn = turnOf(messages, messageId)
    const busy = yield* isBusy
    if (busy && turn._tag === "absent") {
      return yield* failed({
        kind: "busy",
        detail: `Another turn runs in session ${sessionID}. Wait until it is idle, or abort it.`,
        sessionUsable: true
      })
    }
    if (!busy && turn._tag === "finished") return yield* complete(messages, turn.outcome)
    if (!busy && turn._tag === "failed" && turn.error.name === "MessageAbortedError") return yield* failedTurn(turn)
    if (!busy) yield* repair(turn)

    fruitless = before === messages.length ? fruitless + 1 : 0
    before = messages.length
    if (fruitless > maxFruitlessTries) {
      return yield* other(
        `OpenCode ended ${fruitless} times during this turn. Look at its log ('reprise doctor').`,
        true
      )
    }

    const sentAt = yield* Clock.currentTimeMillis
    // What runs is somebody else's by now: sent again, our prompt would make the model answer theirs once more.
    const isOver = busy && turn._tag === "finished"
    if (!isOver) sends++
    const ended = yield* (isOver ? watch : Effect.raceFirst(send, watch)).pipe(
      Effect.catchTag("Refused", (error) => Effect.flatMap(explain(error, sentAt), Effect.fail))
    )
    if (ended instanceof AgentError) {
      // Our request is closed by now: this abort is not an answer to it. The same ids go on from here.
      yield* Effect.ignore(
        calls.once("abort", (client, signal) => client.session.abort({ sessionID, directory }, { signal }))
      )
      return yield* ended
    }
    if (ended === "lost") {
      yield* Effect.sleep(`${Math.min(250, pollMs)} millis`)
      continue
    }
    const after = yield* list
    const now = turnOf(after, messageId)
    switch (now._tag) {
      case "finished":
        return yield* complete(after, now.outcome)
      case "failed":
        return yield* failedTurn(now)
      case "paused":
        if (ended === "answered") return yield* complete(after, now.outcome)
        break
      case "absent":
        if (ended === "answered") {
          return yield* other(notTaken, true)
        }
        break
      case "unfinished":
        // An abort while OpenCode waits for the vendor leaves neither an error nor a reason (measured).
        if (
          ended === "answered" &&
          now.open.some(({ info }) => info.role === "assistant" && info.time.completed !== undefined)
        ) {
          return yield* failed({ kind: "aborted", detail: "The turn was aborted.", sessionUsable: true })
        }
        break
    }
  }
})

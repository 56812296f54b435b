/**
 * Runs one turn from its prompt to its end, over lost connections and restarts.
 *
 * The prompt is sent as a request that stays open for the whole turn, while the session's status is polled. The
 * alternative, `prompt_async`, answers 204 whatever happens, and the status says idle for a moment after it, so a turn
 * that has not started looks like one that failed (measured). The open request reports the end and refusals at once.
 * The polls end the turn when the answer never comes, and notice a server that is gone and a vendor that OpenCode waits
 * for. A turn that runs already is only watched: a prompt that is sent again in the moment in which its turn ends is given
 * to the model again. In every case the outcome is read from the messages.
 */
import type { Session } from "@opencode-ai/sdk/v2/client"
import { childEnvironment, undoRuntimeChanges } from "@reprise/process"
import { addTokens, defined, noUsage } from "@reprise/protocol"
import { Clock, Effect, Option, Predicate } from "effect"
import { AgentError, promptFailed } from "../../AgentError.ts"
import type { Prompt, TurnOutcome } from "../../AgentRuntimeShape.ts"
import { defaultRestarts } from "../../restarts.ts"
import type { Refused } from "../server/calls.ts"
import { failureOf } from "./failures.ts"
import { MessageTimes } from "./MessageTimes.ts"
import { isBusy, listMessages, other, refused, stop, type TurnOptions, type TurnRun } from "./TurnRun.ts"
import {
  hasMadeRounds,
  isEnd,
  type Listed,
  modelOf,
  modelOfLast,
  periodOf,
  subagentsOf,
  type Turn,
  turnOf
} from "./turnOf.ts"
import { subagentUsageIn } from "./usageOf.ts"
import { type RequestEnd, watchStatus } from "./watchStatus.ts"

/** How many times in a row the turn may be tried without a new message before it fails. */
const maxFruitlessTries = 5

/** Whether OpenCode lists the prompt's model; one that names none, or cannot be looked up now, counts as listed. */
const listsModel = ({ options, prompt, session: { directory } }: TurnRun) => {
  const model = modelOf(prompt.model)
  if (model === undefined) return Effect.succeed(true)
  return options.calls
    .once("models", (client, signal) => client.config.providers({ directory }, { signal }))
    .pipe(
      Effect.map(({ providers }) =>
        providers.some(({ id, models }) => id === model.providerID && Object.hasOwn(models, model.modelID))
      ),
      Effect.orElseSucceed(() => true)
    )
}

const notTaken = ({ prompt }: TurnRun): AgentError =>
  other(
    `OpenCode did not take the prompt and gave no reason. It may not know the model or the agent, or the ids of the prompt (${prompt.promptId.messageId}) are in use in another session: look at .reprise/logs/opencode.log.`
  )

const failedTurn = (turn: Extract<Turn, { _tag: "failed" }>): AgentError => {
  const { message, ...failure } = failureOf(turn.error)
  return promptFailed({ ...failure, detail: message })
}

/** Adds what the subagents used during the turn, the model's context window and the number of tries. */
const complete = Effect.fnUntraced(function* (run: TurnRun, messages: ReadonlyArray<Listed>, outcome: TurnOutcome) {
  const { calls, limitOf } = run.options
  const { directory } = run.session
  const { messageId } = run.prompt.promptId
  const ids = subagentsOf(messages, messageId)
  const subagents =
    ids.size === 0
      ? noUsage
      : yield* Effect.orElseSucceed(
          subagentUsageIn(calls, run.session, periodOf(messages, messageId), (id) => ids.has(id)),
          () => noUsage
        )
  const tokens = addTokens(outcome.tokens, subagents.tokens)
  const cost = outcome.cost + subagents.cost
  const model = modelOfLast(messages)
  const limit = outcome.context === undefined || model === undefined ? undefined : yield* limitOf(directory, model)
  const context = outcome.context === undefined || limit === undefined ? {} : { context: { ...outcome.context, limit } }
  return { ...outcome, ...context, cost, tokens, ...(run.sends > 1 ? { attempts: run.sends } : {}) }
})

/** Sends the prompt and waits until the turn has ended. */
const send = ({ options, prompt, session }: TurnRun) => {
  const model =
    modelOf(prompt.model) ??
    (session.model === undefined ? undefined : { providerID: session.model.providerID, modelID: session.model.id })
  const body = {
    sessionID: session.id,
    directory: session.directory,
    messageID: prompt.promptId.messageId,
    parts: [{ id: prompt.promptId.partId, type: "text" as const, text: prompt.text }],
    ...defined({ model, variant: prompt.variant, agent: prompt.agent })
  }
  return options.calls
    .once("prompt", (client, signal) => client.session.prompt(body, { signal }), { timeoutMs: 0 })
    .pipe(
      // An answer without a message says nothing about the turn: the polls see its end.
      Effect.flatMap((answer) =>
        Predicate.hasProperty(answer, "info") ? Effect.succeed<RequestEnd>("answered") : Effect.never
      ),
      Effect.catchTag("Unreachable", () => Effect.succeed<RequestEnd>("lost"))
    )
}

/** A refusal of the prompt names no reason. An event that comes with it does, but it can be late or lost. */
const explain = Effect.fnUntraced(function* (run: TurnRun, error: Refused, sentAt: number) {
  if (error.status < 500) return refused(run, error)
  const reported = yield* run.options.feed.errorSince(run.session.id, sentAt)
  if (Option.isSome(reported)) return other(`OpenCode refused the prompt: ${reported.value}`)
  if (!(yield* listsModel(run))) return other(`OpenCode refused the prompt: Model not found: ${run.prompt.model}`)
  const turn = turnOf(yield* listMessages(run), run.prompt.promptId.messageId)
  return turn._tag === "absent" ? notTaken(run) : refused(run, error)
})

/**
 * Deletes a message that a killed server left open without a tool call. It would be the last message that the model
 * sees, as if to be completed, which some models refuse. An open message with a tool call gets the call's interruption.
 */
const deleteOpenMessages = Effect.fnUntraced(function* ({ options, session }: TurnRun, turn: Turn) {
  const { directory, id: sessionID } = session
  for (const { info, parts } of turn._tag === "unfinished" ? turn.open : []) {
    if (parts.some((part) => part.type === "tool")) continue
    yield* Effect.ignore(
      options.calls.once("repair", (client, signal) =>
        client.session.deleteMessage({ sessionID, directory, messageID: info.id }, { signal })
      )
    )
  }
})

/** Counts tries that added no message, and fails when there were too many in a row. */
const requireProgress = Effect.fnUntraced(function* (run: TurnRun, messageCount: number) {
  const isFruitless = run.messageCount === messageCount
  run.fruitless = isFruitless ? run.fruitless + 1 : 0
  run.lost = isFruitless ? run.lost : 0
  run.messageCount = messageCount
  if (run.lost > defaultRestarts.mostEnds) {
    const detail = `OpenCode ended ${run.lost} times during this turn, which did not get on. The session is kept. Look at OpenCode's log ('reprise doctor'), and continue.`
    return yield* promptFailed({ kind: "gone", detail, sessionUsable: true })
  }
  if (run.fruitless - run.lost <= maxFruitlessTries) return
  return yield* other(
    `The turn was tried ${run.fruitless} times, and did not get on. Look at OpenCode's log ('reprise doctor').`
  )
})

/** How often the rounds are counted that no event told of. */
const recountMs = 5000

/** Ends when the turn has made all the rounds of tool calls that it may make. Events say when to count. */
const untilLimit = (run: TurnRun) => {
  const { feed } = run.options
  const { maxTurns } = run.prompt
  if (maxTurns === undefined) return Effect.never
  const ended = feed.untilMessage(
    run.session.id,
    (message) => message.role === "assistant" && message.finish === "tool-calls" && message.time.completed !== undefined
  )
  return Effect.raceFirst(ended, Effect.sleep(`${recountMs} millis`)).pipe(
    Effect.andThen(Effect.orElseSucceed(listMessages(run), () => [])),
    Effect.repeat({ until: (messages) => hasMadeRounds(messages, run.prompt.promptId.messageId, maxTurns) })
  )
}

/** Whether an earlier try has cut the turn off, or this one is to. */
const isCutOff = ({ prompt }: TurnRun, messages: ReadonlyArray<Listed>, turn: Turn): boolean =>
  prompt.maxTurns !== undefined &&
  turn._tag !== "finished" &&
  !(turn._tag === "failed" && turn.error.name !== "MessageAbortedError") &&
  hasMadeRounds(messages, prompt.promptId.messageId, prompt.maxTurns)

/** The turn ends here, and can be continued by another prompt. */
const completeCutOff = (
  run: TurnRun,
  messages: ReadonlyArray<Listed>,
  { outcome }: Exclude<Turn, { _tag: "absent" }>
) => complete(run, messages, { ...outcome, stopReason: "output-limit" })

/** Ends earlier than `waited` where the clock was set back, or the turn has made all its rounds. */
const orStopped = <A, E>(run: TurnRun, waited: Effect.Effect<A, E>) => {
  const setBack = run.options.feed.untilClockSetBack(run.session.id, run.times)
  return Effect.raceFirst(
    waited,
    Effect.raceFirst(Effect.as(setBack, "clock-set-back" as const), Effect.as(untilLimit(run), "limit" as const))
  )
}

/** Waits for the end of the turn, which runs. An event tells of it sooner than the polls. */
const watchRunning = (run: TurnRun) => {
  const { feed } = run.options
  const ended = feed.untilMessage(
    run.session.id,
    (message) => message.role === "assistant" && message.summary !== true && isEnd(message)
  )
  const rested = watchStatus(run.options, run.session).pipe(
    // Whoever sent the prompt has its answer.
    Effect.map((end) => (end === "idle" ? ("answered" as const) : end))
  )
  return orStopped(run, Effect.raceFirst(rested, Effect.as(ended, "idle" as const)))
}

/** Sends the prompt, waits for its answer, and returns why the wait ended. */
const sendAndWatch = Effect.fnUntraced(function* (run: TurnRun) {
  // OpenCode has answered about the directory before, so it has loaded the configuration there.
  yield* undoRuntimeChanges(run.session.directory, { environment: childEnvironment(process.env), isTop: true })
  const sentAt = yield* Clock.currentTimeMillis
  run.sends += 1
  return yield* orStopped(run, Effect.raceFirst(send(run), watchStatus(run.options, run.session))).pipe(
    Effect.catchTag("Refused", (error) => Effect.flatMap(explain(run, error, sentAt), Effect.fail))
  )
})

/** Stops a turn whose vendor takes too long. Our request is closed by now; the same ids continue the turn later. */
const abortWait = Effect.fnUntraced(function* ({ options, session }: TurnRun, error: AgentError) {
  const { directory, id: sessionID } = session
  yield* Effect.ignore(
    options.calls.once("abort", (client, signal) => client.session.abort({ sessionID, directory }, { signal }))
  )
  return yield* error
})

/** How long a turn waits for a clock that was set back to catch up. */
const longestStepMs = 60_000

/**
 * Aborts the turn and deletes what was made for it after the step: it stands before what the model was told last. What a
 * human wrote stays.
 */
const deleteLate = Effect.fnUntraced(function* (run: TurnRun) {
  const { calls } = run.options
  const { directory, id: sessionID } = run.session
  yield* stop(run)
  for (const { info } of yield* listMessages(run)) {
    run.times.note(info)
    const isOurs = info.role === "assistant" || info.id === run.prompt.promptId.messageId
    if (!isOurs || !run.times.late.has(info.id)) continue
    yield* Effect.ignore(
      calls.once("repair", (client, signal) =>
        client.session.deleteMessage({ sessionID, directory, messageID: info.id }, { signal })
      )
    )
  }
})

/**
 * The clock of OpenCode's machine was set back. After a small step the turn waits and goes on; after a larger one the
 * session is of no use until the clock has caught up.
 */
const undoStep = Effect.fnUntraced(function* (run: TurnRun) {
  yield* deleteLate(run)
  const seconds = Math.ceil(run.times.backMs / 1000)
  yield* Effect.logWarning(`The clock of OpenCode's machine was set back by ${seconds} s.`)
  if (run.times.backMs > longestStepMs) {
    const why = `The clock of OpenCode's machine was set back by ${seconds} s, and OpenCode orders messages by their time.`
    const detail = `${why} Session ${run.session.id} cannot be continued until the clock has caught up: start a new one.`
    return yield* promptFailed({ kind: "other", detail, sessionUsable: false })
  }
  yield* Effect.sleep(`${run.times.backMs} millis`)
  return undefined
})

/** Reads how the turn stands after a try; undefined when it must be tried again. */
const settleTry = Effect.fnUntraced(function* (run: TurnRun, ended: "answered" | "idle" | "limit") {
  const messages = yield* listMessages(run)
  for (const { info } of messages) run.times.note(info)
  if (run.times.backMs > 0) return yield* undoStep(run)
  const turn = turnOf(messages, run.prompt.promptId.messageId)
  if (ended === "limit" && turn._tag !== "absent" && turn._tag !== "finished") {
    return yield* completeCutOff(run, messages, turn)
  }
  switch (turn._tag) {
    case "finished":
      return yield* complete(run, messages, turn.outcome)
    case "failed":
      return yield* failedTurn(turn)
    case "paused":
      return ended === "answered" ? yield* complete(run, messages, turn.outcome) : undefined
    case "absent":
      return ended === "answered" ? yield* notTaken(run) : undefined
    case "unfinished": {
      // An abort while OpenCode waits for the vendor leaves neither an error nor a reason (measured).
      const isAborted =
        ended === "answered" &&
        turn.open.some(({ info }) => info.role === "assistant" && info.time.completed !== undefined)
      return isAborted
        ? yield* promptFailed({ kind: "aborted", detail: "The turn was aborted.", sessionUsable: true })
        : undefined
    }
  }
})

/** Returns the outcome when the turn has ended, else tries once to bring it to its end. */
const advance = Effect.fnUntraced(function* (run: TurnRun): Effect.fn.Return<TurnOutcome | undefined, AgentError> {
  // In this order: a turn that ends between the two answers is finished, and does not look as if it was cut off.
  const busy = yield* isBusy(run)
  const messages = yield* listMessages(run)
  const turn = turnOf(messages, run.prompt.promptId.messageId)
  if (busy && turn._tag === "absent") {
    const detail = `Another turn is running in session ${run.session.id}. Wait until it is idle, or abort it.`
    return yield* promptFailed({ kind: "busy", detail, sessionUsable: true })
  }
  if (!busy && turn._tag === "finished") return yield* complete(run, messages, turn.outcome)
  if (turn._tag !== "absent" && isCutOff(run, messages, turn)) {
    if (busy) yield* stop(run)
    return yield* completeCutOff(run, messages, turn)
  }
  if (!busy && turn._tag === "failed" && turn.error.name === "MessageAbortedError") return yield* failedTurn(turn)
  if (!busy) yield* deleteOpenMessages(run, turn)
  const isRunning = busy && (turn._tag === "unfinished" || turn._tag === "paused")
  if (!isRunning) yield* requireProgress(run, messages.length)
  run.times = new MessageTimes(
    messages.map(({ info }) => info),
    run.prompt.promptId.messageId
  )

  // Ours is finished and the session busy, so somebody else's turn runs: our prompt would make the model answer theirs twice.
  const isTheirs = busy && turn._tag === "finished"
  const ended = yield* isTheirs
    ? watchStatus(run.options, run.session)
    : isRunning
      ? watchRunning(run)
      : sendAndWatch(run)
  if (ended instanceof AgentError) return yield* abortWait(run, ended)
  if (ended === "clock-set-back") return yield* undoStep(run)
  if (ended === "limit") {
    yield* stop(run)
    return yield* settleTry(run, ended)
  }
  if (ended === "lost") {
    run.lost += 1
    yield* Effect.sleep(`${Math.min(250, run.options.pollMs)} millis`)
    return undefined
  }
  return yield* settleTry(run, ended)
})

/** Succeeds with the turn's outcome, however many requests and servers that takes. */
export const runOpenCodeTurn = Effect.fn("OpenCode.turn")(function* (
  options: TurnOptions,
  session: Session,
  prompt: Prompt
): Effect.fn.Return<TurnOutcome, AgentError> {
  const run: TurnRun = {
    options,
    session,
    prompt,
    sends: 0,
    fruitless: 0,
    lost: 0,
    messageCount: undefined,
    times: new MessageTimes()
  }
  return yield* Effect.repeat(advance(run), { until: (outcome) => outcome !== undefined })
})

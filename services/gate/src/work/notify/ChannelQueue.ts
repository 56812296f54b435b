/** The queue of one channel in one process: how much is sent at a time, what is batched, and when sending pauses. */
import { Clock, Deferred, Effect, Semaphore } from "effect"
import { type Outcome, pauseMs } from "../../notify/attempts.ts"
import { batchesOf, isBatched } from "../../notify/batches.ts"
import type { QuestionNotice } from "../../notify/Notice.ts"
import type { Channel, SendOptions } from "./Channel.ts"
import { send } from "./send.ts"

/** Requests to one channel at a time. */
const atOnce = 4

interface Waiting {
  readonly notice: QuestionNotice
  readonly outcome: Deferred.Deferred<Outcome>
}

export interface ChannelQueueOptions extends SendOptions {
  /** How long after a message the next one of a channel for people is gathered, in milliseconds. Default: not at all. */
  readonly batchMs?: number
}

export interface ChannelQueue {
  readonly channel: Channel
  /** Sends a notice, alone or with others of its kind. Never fails. */
  readonly send: (notice: QuestionNotice) => Effect.Effect<Outcome>
}

const stopped: Outcome = { _tag: "Failed", reason: "the process stops", maybeReceived: true }

export const makeChannelQueue = (channel: Channel, { batchMs = 0, ...options }: ChannelQueueOptions): ChannelQueue => {
  const slots = Semaphore.makeUnsafe(atOnce)
  /** After a failure nothing is sent until then, in milliseconds since 1970, and for this reason. */
  let restsUntilMs = 0
  let whyItRests = ""
  let failuresInARow = 0
  let waiting: ReadonlyArray<Waiting> = []
  let isGathering = false
  let gatherUntilMs = 0

  const rested = Effect.fnUntraced(function* (outcome: Outcome) {
    if (outcome._tag === "Delivered" && outcome.warning !== undefined) {
      yield* Effect.logWarning(`not everybody of channel '${channel.name}' was told: ${outcome.warning}`)
    }
    if (outcome._tag !== "Failed") {
      failuresInARow = 0
      return outcome
    }
    failuresInARow += 1
    whyItRests = outcome.reason
    if (failuresInARow === 1) yield* Effect.logWarning(`channel '${channel.name}' fails: ${outcome.reason}`)
    const pause = Math.max(outcome.afterMs ?? 0, pauseMs(failuresInARow))
    restsUntilMs = (yield* Clock.currentTimeMillis) + pause
    return outcome
  })

  const resting = Effect.map(Clock.currentTimeMillis, (nowMs): Outcome | undefined =>
    restsUntilMs > nowMs
      ? { _tag: "Failed", reason: whyItRests, afterMs: restsUntilMs - nowMs, maybeReceived: false }
      : undefined
  )

  const unlessResting = <R>(send: Effect.Effect<Outcome, never, R>) =>
    Effect.flatMap(resting, (rest) => (rest === undefined ? send : Effect.succeed(rest)))

  /** Those that waited for a slot while the channel failed do not try it again. */
  const sendNow = (notices: readonly [QuestionNotice, ...ReadonlyArray<QuestionNotice>]) =>
    slots.withPermits(1)(unlessResting(Effect.flatMap(send(channel, notices, options), rested)))

  const giveOutcome = (to: ReadonlyArray<Waiting>, outcome: Outcome) =>
    Effect.forEach(to, (one) => Deferred.succeed(one.outcome, outcome), { discard: true })

  const sendGathered = Effect.fnUntraced(function* () {
    yield* Effect.sleep(Math.max(0, gatherUntilMs - (yield* Clock.currentTimeMillis)))
    const gathered = waiting
    waiting = []
    isGathering = false
    gatherUntilMs = (yield* Clock.currentTimeMillis) + batchMs
    yield* Effect.forEach(batchesOf(gathered), ([first, ...others]) =>
      Effect.flatMap(sendNow([first.notice, ...others.map(({ notice }) => notice)]), (outcome) =>
        giveOutcome([first, ...others], outcome)
      )
    ).pipe(Effect.onInterrupt(() => giveOutcome(gathered, stopped)))
  })

  /** The first goes out at once; those that come soon after it wait for each other, and one of them sends all. */
  const sendTogether = Effect.fnUntraced(function* (notice: QuestionNotice) {
    const outcome = yield* Deferred.make<Outcome>()
    waiting = [...waiting, { notice, outcome }]
    if (!isGathering) {
      isGathering = true
      yield* sendGathered()
    }
    return yield* Deferred.await(outcome)
  })

  return {
    channel,
    send: (notice) => unlessResting(isBatched(channel.preset) && batchMs > 0 ? sendTogether(notice) : sendNow([notice]))
  }
}

/**
 * Delivers the notices that Escalation actors ask for, each piece of work to one channel
 * (docs/decisions/0031-notifications.md). The broker keeps the work: it survives the process.
 */
import { Messenger, type WorkContext, WorkFault, WorkPostponed, workerLayer } from "@reprise/actor"
import { anyHost } from "@reprise/protocol"
import { Clock, Effect, Layer } from "effect"
import { toEscalationActor } from "../../actor/inputs.ts"
import { isOver, type Outcome, pauseMs } from "../../notify/attempts.ts"
import { deliveryIdOf, NotifyWork, type QuestionNotice } from "../../notify/Notice.ts"
import { quietForMs } from "../../notify/quietHours.ts"
import type { Channel } from "./Channel.ts"
import { type ChannelQueue, type ChannelQueueOptions, makeChannelQueue } from "./ChannelQueue.ts"
import { isPushChannel, type PushBrowsers } from "./PushBrowsers.ts"

export interface NotifyOptions extends ChannelQueueOptions {
  readonly channels: ReadonlyArray<Channel>
  /** The browsers that are told while no page is open; absent: none is. */
  readonly push?: PushBrowsers
  /** `22:00-07:00`, in the time of this process. */
  readonly quietHours?: string
}

/** Work that is held back is looked at again after this at the latest: the broker's clock is not ours. */
const longestHoldMs = 60 * 60_000

/** What a notice is about, for messages to people. */
const subjectOf = ({ question, _tag }: QuestionNotice): string => {
  const what = { Raised: "was raised", Reminder: "is still open", Answered: "was answered", Withdrawn: "was withdrawn" }
  return `question ${question.escalationId} ${what[_tag]}`
}

/** Whether a question still waits for its answer. Without an answer from the actor it counts as open. */
const isOpen = ({ question }: QuestionNotice) =>
  Messenger.use((messenger) => messenger.show.gate(question.escalationId)).pipe(
    Effect.map(({ state }) => state === "open"),
    Effect.orElseSucceed(() => true)
  )

const minuteOfDay = (nowMs: number): number => {
  const now = new Date(nowMs)
  return now.getHours() * 60 + now.getMinutes()
}

const makeHandler = ({ channels, push, quietHours, ...options }: NotifyOptions) => {
  const queues = new Map(channels.map((channel) => [channel.name, makeChannelQueue(channel, options)]))

  /** Browsers come and go. */
  const queueOf = (name: string): ChannelQueue | undefined => {
    const known = queues.get(name)
    if (known?.channel.preset !== "web-push" && known !== undefined) return known
    const channel = push?.channelOf(name)
    if (channel === undefined) {
      queues.delete(name)
      return undefined
    }
    const queue = known ?? makeChannelQueue(channel, options)
    queues.set(name, queue)
    return queue
  }

  /** By the work's id: its deliveries to this process after which the channel certainly has nothing. */
  const unsent = new Map<string, number>()

  const postpone = (context: WorkContext, reason: string, pause: number, maybeReceived = false) =>
    Effect.suspend(() => {
      if (!maybeReceived) unsent.set(context.id, (unsent.get(context.id) ?? 0) + 1)
      return Effect.fail(new WorkPostponed({ reason, pauseMs: Math.min(longestHoldMs, Math.max(1, Math.ceil(pause))) }))
    })

  const reportTold = ({ channel }: ChannelQueue, notice: QuestionNotice, context: WorkContext) =>
    Messenger.use((messenger) =>
      messenger.send(toEscalationActor(notice.question.escalationId).ChannelTold({ channel: channel.name }), {
        id: `${context.id}.told`,
        causation: context.id
      })
    ).pipe(Effect.catch((error) => postpone(context, error.message, pauseMs(1), true)))

  /** An earlier attempt may have reached the channel: its process ended, or its answer was lost. */
  const maybeHasIt = ({ delivery, id }: WorkContext): boolean => delivery - 1 > (unsent.get(id) ?? 0)

  const settle = Effect.fnUntraced(function* (
    queue: ChannelQueue,
    notice: QuestionNotice,
    context: WorkContext,
    outcome: Outcome
  ) {
    const nowMs = yield* Clock.currentTimeMillis
    if (outcome._tag === "Delivered") {
      if (notice._tag === "Raised") yield* reportTold(queue, notice, context)
      unsent.delete(context.id)
      return
    }
    const isReminder = notice._tag === "Reminder"
    const isLate = isOver(isReminder ? "reminder" : "question", context.requestedAt, nowMs)
    if (outcome._tag === "Refused" || isLate) {
      unsent.delete(context.id)
      // The next reminder says the same.
      if (isReminder)
        return yield* Effect.logWarning(`a reminder for '${queue.channel.name}' is left out: ${outcome.reason}`)
      return yield* new WorkFault({
        operation: `Telling channel '${queue.channel.name}' that ${subjectOf(notice)}`,
        cause: `${outcome.reason}${isLate ? ", for a day" : ""}. 'reprise notify test ${queue.channel.name}' tries the channel`
      })
    }
    const pause = Math.max(outcome.afterMs ?? 0, pauseMs(context.delivery))
    return yield* postpone(context, outcome.reason, pause, outcome.maybeReceived)
  })

  const deliver = Effect.fnUntraced(function* (queue: ChannelQueue, notice: QuestionNotice, context: WorkContext) {
    const isAsking = notice._tag === "Raised" || notice._tag === "Reminder"
    if (isAsking && !(yield* isOpen(notice))) {
      if (notice._tag === "Raised" && maybeHasIt(context)) yield* reportTold(queue, notice, context)
      unsent.delete(context.id)
      return
    }
    yield* settle(queue, notice, context, yield* queue.send(notice))
  })

  return Effect.fnUntraced(function* ({ channel, notice }: NotifyWork, context: WorkContext) {
    const queue = queueOf(channel)
    if (queue === undefined) {
      if (isPushChannel(channel)) return
      return yield* Effect.logWarning(`channel '${channel}' is no longer configured`)
    }
    if (notice._tag === "Reminder" && !queue.channel.reminders) return
    const nowMs = yield* Clock.currentTimeMillis
    const quietMs = quietForMs(quietHours, minuteOfDay(nowMs))
    if (quietMs > 0) {
      // The question itself waits for the end of the quiet hours, or its next reminder does.
      if (notice._tag === "Reminder") return
      return yield* postpone(context, `quiet hours, ${quietHours}`, quietMs)
    }
    yield* deliver(queue, notice, context).pipe(
      Effect.annotateLogs({ channel, notification: deliveryIdOf(channel, notice) })
    )
  })
}

/** Delivers to these channels until the scope closes. */
export const notifyWorker = (options: NotifyOptions) =>
  Layer.unwrap(
    Effect.sync(() =>
      workerLayer({
        service: "gate",
        host: anyHost,
        work: NotifyWork,
        handle: makeHandler(options),
        // Far above what the channels take at once: what waits for a channel holds up no other, and is sent together.
        concurrency: 256,
        attempts: 1,
        maxInFlight: -1
      })
    )
  )

/** Follows one run to its end, or until it is parked or paused. */
import { ActorConfig, Broker, Messenger } from "@reprise/actor"
import { type PublicEvent, type PublicEventType, type RunId, subjects } from "@reprise/protocol"
import { Deferred, Effect, Stream } from "effect"
import { untilArchived, untilInterrupted, untilSaved } from "../../system/lookUp/awaitSessions.ts"
import { findRun } from "../../system/lookUp/lookUp.ts"
import { type ExitCode, exitCodes } from "../../terminal/exitCodes.ts"
import { json } from "../../terminal/Printer.ts"
import { visibleLine } from "../../terminal/visible.ts"
import { eventLine } from "../../views/eventLine.ts"
import { publicJson } from "../../views/publicJson.ts"
import { type Answerer, type Finish, followEvents } from "../gate/followEvents.ts"

export interface FollowOptions {
  readonly answerer: Answerer
  readonly json: boolean
  /** The plan as the next `reprise run` names it. */
  readonly plan: { readonly path: string }
  /** ISO time from which events are shown; absent: from the beginning of the run. */
  readonly since?: string
}

/** The events with which a run stops, and the exit code of each. */
const endings: { readonly [Type in PublicEventType]?: ExitCode } = {
  RunCompleted: exitCodes.done,
  RunFailed: exitCodes.runFailed,
  RunAborted: exitCodes.aborted,
  RunPaused: exitCodes.waiting
}

/** How long to wait for what a stopped run still does. */
const releaseMs = 30_000

/** Waits until an ended run has released its workspace and archived its conversations, but not longer than `releaseMs`. */
const untilReleased = Effect.fnUntraced(function* (runId: RunId, released: Deferred.Deferred<void>) {
  const { directory } = yield* findRun(runId)
  if (directory !== undefined) yield* Deferred.await(released).pipe(Effect.timeoutOption(releaseMs))
  yield* untilArchived(runId, releaseMs)
  return true
})

/** Prints the event that raised the open question, for a program that otherwise sees only new events. */
const printRaised = Effect.fnUntraced(function* (runId: RunId, escalationId: string) {
  const broker = yield* Broker
  const messenger = yield* Messenger
  const { prefix } = yield* ActorConfig
  const last = (yield* broker.last("events", subjects(prefix).events("gate", runId, "EscalationRaised")))?.sequence
  if (last === undefined) return
  yield* messenger.events({ runId, services: ["gate"], types: ["EscalationRaised"], from: "beginning" }).pipe(
    Stream.takeUntil(({ sequence }) => sequence >= last),
    Stream.filter(({ event }) => event._tag === "EscalationRaised" && event.escalationId === escalationId),
    Stream.runForEach(({ event, meta }) => Effect.sync(() => json(publicJson(event, meta))))
  )
})

const findOpenQuestion = Effect.fnUntraced(function* (runId: RunId, asJson: boolean) {
  const { escalationId, status } = yield* findRun(runId)
  if (escalationId === undefined || status !== "waiting") return {}
  if (asJson) yield* printRaised(runId, escalationId)
  return { openQuestion: escalationId }
})

/** Waits for what was interrupted and is to be saved; false: the run was resumed meanwhile. */
const untilParked = Effect.fnUntraced(function* (runId: RunId) {
  yield* untilInterrupted(runId, releaseMs)
  yield* untilSaved(runId)
  return (yield* findRun(runId)).status === "paused"
})

/** Returns the exit code. An ended run is followed until its workspace is released. */
export const followRun = Effect.fn("followRun")(function* (runId: RunId, options: FollowOptions) {
  const { answerer, json: asJson, plan, since } = options
  const released = yield* Deferred.make<void>()

  const onEvent = Effect.fnUntraced(function* (event: PublicEvent, finish: Finish) {
    if (event._tag === "WorkspaceReleased") yield* Deferred.succeed(released, undefined)
    const code = endings[event._tag]
    if (code === undefined) return
    const stopped = code === exitCodes.waiting ? untilParked(runId) : untilReleased(runId, released)
    yield* Effect.forkScoped(
      Effect.andThen(
        Effect.orElseSucceed(stopped, () => true),
        (isOver) => (isOver ? finish(code) : Effect.void)
      )
    )
  })

  const next = `Continue: reprise run ${visibleLine(plan.path)}. Under 'reprise up' it continues by itself.`
  return yield* followEvents({
    answerer,
    json: asJson,
    ...(since === undefined ? {} : { since, ...(yield* findOpenQuestion(runId, asJson)) }),
    runId,
    lineOf: eventLine,
    parked: (escalationId) => `Run parked. Answer: reprise gate answer ${escalationId} CHOICE. ${next}`,
    closed: `Run parked; the question stays open. ${next}`,
    onEvent
  })
})

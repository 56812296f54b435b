/** A session-manager in memory: broker and runtime pass the same contract suites as the real ones. */
import { assert } from "@effect/vitest"
import { ActorConfig, MemoryBroker, Messenger } from "@reprise/actor"
import { AgentRuntime, AgentRuntimes, MemoryControl, type MemoryScript } from "@reprise/agent"
import {
  Key,
  type PublicEvent,
  type PublicEventType,
  type RunId,
  type SessionCommand,
  SessionId
} from "@reprise/protocol"
import { Duration, Effect, Layer, Stream } from "effect"
import { layerWith, type ServiceSettings } from "../../src/service.ts"

export type EventOf<Tag extends PublicEventType> = Extract<PublicEvent, { _tag: Tag }>

/**
 * A turn that waited: a failure said until when. Returns the types of its events with the first failure alone, since a slow
 * machine may not see the one that the runtime tells before the turn waits.
 */
export const storyOfWait = (events: ReadonlyArray<PublicEvent>) => {
  assert.isTrue(events.some((event) => event._tag === "AgentFailed" && event.until !== undefined))
  const types = events.map(({ _tag }) => _tag)
  return types.filter(
    (type, n) => type !== "AgentWorking" && (type !== "AgentFailed" || types.indexOf("AgentFailed") === n)
  )
}

/** A test's commands to the session-manager, and the events of one run, or of all. */
export const stageOf = Effect.fnUntraced(function* (runId?: RunId) {
  const messenger = yield* Messenger
  const all = { services: ["session-manager"], from: "beginning", ...(runId === undefined ? {} : { runId }) } as const

  /** Waits for the `count`-th event of this type, from the beginning. */
  const awaitEvent = <Tag extends PublicEventType>(tag: Tag, count = 1) =>
    messenger.events({ ...all, types: [tag] }).pipe(
      Stream.map(({ event }) => event as EventOf<Tag>),
      Stream.take(count),
      Stream.runCollect,
      Effect.map((events) => events[count - 1] as EventOf<Tag>)
    )

  /** The events up to the first of this type, without TurnProgress. */
  const eventsUntil = (last: PublicEventType) =>
    messenger.events(all).pipe(
      Stream.map(({ event }) => event),
      Stream.takeUntil(({ _tag }) => _tag === last),
      Stream.filter(({ _tag }) => _tag !== "TurnProgress"),
      Stream.runCollect
    )

  return {
    send: (command: SessionCommand, key = "r1-s1", id?: string) =>
      messenger.send({ service: "session-manager", key: Key.make(key), command }, id === undefined ? {} : { id }),
    awaitEvent,
    view: (key = "r1-s1") => messenger.show.sessionManager(SessionId.make(key)),
    eventsUntil,
    /** Their types. */
    storyUntil: (last: PublicEventType) => Effect.map(eventsUntil(last), (events) => events.map(({ _tag }) => _tag))
  }
})
export const stage = stageOf()

/** What outlives a session-manager: the broker, and the runtime, whose agent plays `script`. */
export const surroundings = (script: MemoryScript, control = new MemoryControl()) => {
  const runtime = AgentRuntimes.layerSingle.pipe(Layer.provideMerge(AgentRuntime.layerMemory({ script, control })))
  return Layer.mergeAll(runtime, Messenger.layer).pipe(
    Layer.provideMerge(MemoryBroker.layer),
    Layer.provideMerge(ActorConfig.layer())
  )
}

/** Everything in memory. */
export const inMemory = (
  script: MemoryScript,
  options: { readonly control?: MemoryControl; readonly settings?: Partial<ServiceSettings> } = {}
) =>
  layerWith({ idleGrace: Duration.millis(50), ...options.settings }).pipe(
    Layer.provideMerge(surroundings(script, options.control))
  )

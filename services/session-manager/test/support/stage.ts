/** A session-manager in memory: broker and runtime pass the same contract suites as the real ones. */
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
import { Effect, Layer, Stream } from "effect"
import { layerWith, type ServiceSettings } from "../../src/service.ts"

export type EventOf<Tag extends PublicEventType> = Extract<PublicEvent, { _tag: Tag }>

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

  return {
    send: (command: SessionCommand, key = "r1-s1", id?: string) =>
      messenger.send({ service: "session-manager", key: Key.make(key), command }, id === undefined ? {} : { id }),
    awaitEvent,
    view: (key = "r1-s1") => messenger.show.sessionManager(SessionId.make(key)),
    /** The types of the events up to the first of this type, without TurnProgress. */
    storyUntil: (last: PublicEventType) =>
      messenger.events(all).pipe(
        Stream.map(({ event }) => event._tag),
        Stream.takeUntil((tag) => tag === last),
        Stream.filter((tag) => tag !== "TurnProgress"),
        Stream.runCollect
      )
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
) => layerWith({ idleGraceMs: 50, ...options.settings }).pipe(Layer.provideMerge(surroundings(script, options.control)))

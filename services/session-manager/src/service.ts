/** The session-manager as a service: Session actors, the worker of this host, and the watch over its sessions. */
import {
  ActorConfig,
  actorLayer,
  type Broker,
  Messenger,
  type WorkContext,
  type WorkFault,
  workerLayer
} from "@reprise/actor"
import type { AgentRuntimes } from "@reprise/agent"
import { noTokens } from "@reprise/protocol"
import { Cause, Effect, Layer } from "effect"
import { type SessionReport, SessionWork } from "./domain/messages.ts"
import { sessionActor } from "./domain/sessionActor.ts"
import { defaultSettings, type SessionSettings } from "./domain/settings.ts"
import { LiveTurns } from "./LiveTurns.ts"
import { saveTranscript } from "./transcript/saveTranscript.ts"
import { watchActivity } from "./watch/watchActivity.ts"
import { interruptSession, sendReply } from "./worker/interruptSession.ts"
import { inspectSession, openSession } from "./worker/openSession.ts"
import { reportTo } from "./worker/reportTo.ts"
import { runPrompt } from "./worker/runPrompt.ts"

export interface ServiceSettings extends SessionSettings {
  /** Turns, and what else is done to sessions, at a time on this host: an abort must never wait for a turn to end. */
  readonly concurrency: number
}

export const defaultServiceSettings: ServiceSettings = { ...defaultSettings, concurrency: 64 }

type Needs = ActorConfig | AgentRuntimes | Broker | LiveTurns | Messenger

const handle =
  (settings: ServiceSettings) =>
  (work: SessionWork, context: WorkContext): Effect.Effect<void, WorkFault, Needs> => {
    switch (work._tag) {
      case "OpenSession":
        return openSession(work, context)
      case "InspectSession":
        return inspectSession(work, context)
      case "RunPrompt":
        return runPrompt(work, context, settings.maxWaitMs)
      case "SaveTranscript":
        return saveTranscript(work, context)
      case "InterruptSession":
        return interruptSession(work, context)
      case "SendReply":
        return sendReply(work, context)
    }
  }

/** Work that keeps breaking ends its turn, so that nobody waits for it. */
const giveUp = Effect.fnUntraced(function* (work: SessionWork, cause: Cause.Cause<WorkFault>, context: WorkContext) {
  const { tell } = yield* reportTo(context)
  const message = `The session-manager could not do its work: ${Cause.pretty(cause).slice(0, 500)}`
  const failure: SessionReport | undefined =
    work._tag === "RunPrompt"
      ? {
          _tag: "RecordFailed",
          turnId: work.turnId,
          number: work.number,
          tokens: noTokens,
          cost: 0,
          attempts: context.delivery,
          toolCalls: 0,
          kind: "other",
          message,
          sessionUsable: false
        }
      : work._tag === "OpenSession" || work._tag === "InspectSession"
        ? { _tag: "RecordUnreachable", turnId: work.turnId, kind: "other", message }
        : undefined
  if (failure !== undefined) yield* tell("gave-up", failure)
})

/** Decide over sessions, and answer queries; touch no runtime. */
export const actorsWith = (changes: Partial<ServiceSettings> = {}) =>
  actorLayer(sessionActor({ ...defaultServiceSettings, ...changes }))

/** Do the work on the runtimes of this host, and watch over its sessions. */
export const workersWith = (changes: Partial<ServiceSettings> = {}) => {
  const settings = { ...defaultServiceSettings, ...changes }
  const worker = Layer.unwrap(
    Effect.map(ActorConfig, ({ host }) =>
      workerLayer({
        service: "session-manager",
        host,
        work: SessionWork,
        handle: handle(settings),
        giveUp,
        concurrency: settings.concurrency
      })
    )
  )
  return Layer.merge(worker, Layer.effectDiscard(watchActivity(settings))).pipe(
    Layer.provide(LiveTurns.layer),
    Layer.provide(Messenger.layer)
  )
}

/** Runs until its scope closes. Needs the runtimes of this host. */
export const layerWith = (changes: Partial<ServiceSettings> = {}) =>
  workersWith(changes).pipe(Layer.provideMerge(actorsWith(changes)))

export const actors = actorsWith()
export const workers = workersWith()
export const layer = layerWith()

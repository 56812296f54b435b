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
import { noUsage } from "@reprise/protocol"
import { Cause, Effect, Layer } from "effect"
import { sessionActor } from "./machine/actor.ts"
import type { SessionReport } from "./session/inputs.ts"
import { SessionWork } from "./session/work.ts"
import { defaultSettings, type SessionSettings } from "./settings.ts"
import { HandBacks } from "./work/HandBacks.ts"
import { OwnPrompts } from "./work/OwnPrompts.ts"
import { openSession } from "./work/openSession.ts"
import { reportTo } from "./work/report.ts"
import { runPrompt } from "./work/runPrompt.ts"
import { inspectSession, interruptSession, sendReply } from "./work/runtimeSession.ts"
import { saveNewMessages } from "./work/saveNewMessages.ts"
import { saveTranscript } from "./work/saveTranscript.ts"
import { watchActivity } from "./work/watchActivity.ts"

export interface ServiceSettings extends SessionSettings {
  /** Pieces of work at a time on this host. High, because an abort must never wait for a turn's end. */
  readonly concurrency: number
}

export const defaultServiceSettings: ServiceSettings = { ...defaultSettings, concurrency: 64 }

type Needs = ActorConfig | AgentRuntimes | Broker | HandBacks | OwnPrompts | Messenger

const handle =
  (settings: ServiceSettings) =>
  (work: SessionWork, context: WorkContext): Effect.Effect<void, WorkFault, Needs> => {
    switch (work._tag) {
      case "OpenSession":
        return openSession(work, context)
      case "InspectSession":
        return inspectSession(work, context)
      case "RunPrompt":
        return runPrompt(work, context, settings)
      case "SaveNewMessages":
        return saveNewMessages(work, context)
      case "SaveTranscript":
        return saveTranscript(work, context)
      case "InterruptSession":
        return interruptSession(work, context)
      case "HandBack":
        return HandBacks.use(({ announce }) => announce(context.key))
      case "SendReply":
        return sendReply(work, context)
    }
  }

/** The failure that ends the turn of work that keeps breaking; undefined: no turn waits for this work. */
const failureOf = (work: SessionWork, message: string): SessionReport | undefined => {
  switch (work._tag) {
    case "RunPrompt": {
      const { number, turnId } = work
      const used = { ...noUsage, toolCalls: 0, attempts: 1 }
      return { _tag: "RecordPromptFailed", turnId, number, ...used, kind: "runtime", message, sessionUsable: false }
    }
    case "OpenSession":
    case "InspectSession":
      return { _tag: "RecordUnreachable", turnId: work.turnId, kind: "runtime", message }
    case "InterruptSession":
      return work.turnId === undefined ? undefined : { _tag: "RecordInterrupted", turnId: work.turnId }
    case "SaveNewMessages":
    case "HandBack":
    case "SaveTranscript":
    case "SendReply":
      return undefined
  }
}

const giveUp = Effect.fnUntraced(function* (work: SessionWork, cause: Cause.Cause<WorkFault>, context: WorkContext) {
  const { tell } = yield* reportTo(context)
  const message = `The session-manager could not do its work: ${Cause.pretty(cause).slice(0, 500)}`
  const failure = failureOf(work, message)
  if (failure !== undefined) yield* tell("gave-up", failure)
})

/** The actors alone: they decide and answer queries, and touch no runtime. */
export const actorsWith = (changes: Partial<ServiceSettings> = {}) =>
  actorLayer(sessionActor({ ...defaultServiceSettings, ...changes }))

/** The work on the runtimes of this host, and the watch over its sessions. */
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
    Layer.provide(Layer.merge(HandBacks.layer, OwnPrompts.layer)),
    Layer.provide(Messenger.layer)
  )
}

/** Both, until the scope closes. */
export const layerWith = (changes: Partial<ServiceSettings> = {}) =>
  workersWith(changes).pipe(Layer.provideMerge(actorsWith(changes)))

export const actors = actorsWith()
export const workers = workersWith()
export const layer = layerWith()

/** Telling and hearing what agents do right now. */
import { type Key, LiveMessage, type RunId, subjects as subjectsOf } from "@reprise/protocol"
import { Effect, Result, Schema, Stream } from "effect"
import type { ActorSettings } from "../ActorConfig.ts"
import type { BrokerShape } from "../broker/Broker.ts"
import { bodyReader } from "../wire.ts"

export interface Live {
  /** Tells whoever listens now; nothing is stored, and nothing fails. */
  readonly announce: (message: LiveMessage) => Effect.Effect<void>
  /** What is told of a run, or of all, from now on; never ends. Messages that cannot be read are left out. */
  readonly hear: (run?: RunId | Key) => Stream.Stream<LiveMessage>
}

const encode = Schema.encodeSync(LiveMessage)
const read = bodyReader(LiveMessage)

export const makeLive = (broker: BrokerShape, { prefix }: ActorSettings): Live => {
  const subjects = subjectsOf(prefix)
  return {
    announce: (message) =>
      Effect.suspend(() => {
        const { _tag, ...body } = encode(message)
        return broker.announce(subjects.live("session-manager", message.runId, _tag), JSON.stringify(body))
      }),
    hear: (run) =>
      broker.hear(subjects.lives(run ?? "*")).pipe(
        Stream.map(({ body, subject }) => read(subject.slice(subject.lastIndexOf(".") + 1), body)),
        Stream.filter(Result.isSuccess),
        Stream.map(({ success }) => success)
      )
  }
}

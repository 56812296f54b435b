/** The gate over a real broker, as verbs. */
import { ActorConfig, JetStreamBroker, Messenger } from "@reprise/actor"
import { ensureStreams, Nats } from "@reprise/nats"
import { EscalationId, RunId, to } from "@reprise/protocol"
import { localBroker, Broker as Server } from "@reprise/testing"
import { Effect, Layer, Schedule } from "effect"
import type { InputOf } from "../../src/actor/inputs.ts"
import { layerWith, type NotifyOptions } from "../../src/index.ts"
import { question } from "../fixtures.ts"

/** The ack wait is longer than a busy machine stands still, so that little is sent twice. */
const config = ActorConfig.layer({ prefix: "t", ackWaitMs: 20_000 })

export const world = Layer.unwrap(
  Effect.map(Server, ({ url }) =>
    Messenger.layer.pipe(
      Layer.provideMerge(JetStreamBroker.layer),
      Layer.provideMerge(Layer.effectDiscard(ensureStreams("t", { storageBytes: 256 * 1024 ** 2 }))),
      Layer.provideMerge(Nats.layer({ url, name: "notify-test" })),
      Layer.provideMerge(config)
    )
  )
).pipe(Layer.provide(localBroker))

/** One process of the gate that delivers, until the scope closes. */
export const startGate = (options: NotifyOptions) => Layer.build(Layer.fresh(layerWith(options)))

let asked = 0
export const newQuestion = () => {
  const run = `n${++asked}`
  return { runId: RunId.make(run), escalationId: EscalationId.make(`${run}-e1`) }
}
type Id = ReturnType<typeof newQuestion>

export const askAbout = (id: Id, more: Partial<InputOf<"RaiseEscalation">>) =>
  Messenger.use((messenger) =>
    messenger.send({
      service: "gate",
      key: id.escalationId,
      command: question({ ...id, reason: "Which <b>database</b>?", ...more })
    })
  )
export const ask = (id: Id) => askAbout(id, {})

export const answer = ({ escalationId }: Id) =>
  Messenger.use((messenger) =>
    messenger.send(to.gate(escalationId).AnswerEscalation({ choice: "fix", by: "ada", via: "cli", guidance: "hush" }))
  )

export const waitUntil = (condition: () => boolean) =>
  Effect.suspend(() => (condition() ? Effect.void : Effect.fail("not yet"))).pipe(
    Effect.retry(Schedule.spaced("20 millis")),
    Effect.orDie
  )

export const deadLettersOf = ({ escalationId }: Id) =>
  Effect.map(
    Messenger.use((messenger) => messenger.deadLetters()),
    (letters) => letters.filter(({ content }) => content?.subject.endsWith(`.${escalationId}`))
  )

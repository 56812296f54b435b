/**
 * The lower bound of Reprise's steps: a loop of the bare client, without Reprise. A command is delivered; an entry is
 * stored, then the next command. An actor can do with no less.
 */
import { AckPolicy, type JsMsg, jetstream, jetstreamManager } from "@nats-io/jetstream"
import { connect, headers } from "@nats-io/transport-node"
import { encodeMeta, subjects } from "@reprise/protocol"
import { describeServer, prefix, startNatsServer } from "./natsServer.ts"
import { type Peer, payload } from "./Peer.ts"

const { command, event, events, journal, streams } = subjects(prefix)
const durable = "steps"

interface Step {
  readonly step: number
  readonly steps: number
}

/** As large as the envelope of a command. */
const envelope = (id: string) => {
  const envelope = headers()
  const time = new Date().toISOString()
  for (const [name, value] of Object.entries(
    encodeMeta({ id, type: "Step", source: "/orchestrator/local", subject: "chain", time, causation: id })
  )) {
    envelope.set(name, value)
  }
  return envelope
}

const open = async (url: string | undefined) => {
  const nc = await connect({ servers: url ?? "", noAsyncTraces: true })
  const js = jetstream(nc)
  const store = (subject: string, stream: string, id: string, body: object, lastSubjectSequence?: number) =>
    js.publish(subject, JSON.stringify(body), {
      msgID: id,
      headers: envelope(id),
      expect: { streamName: stream, ...(lastSubjectSequence === undefined ? {} : { lastSubjectSequence }) }
    })
  return { nc, js, store }
}

export const broker: Peer = {
  name: "broker",
  canPark: false,
  hasEffects: false,
  missing: () => undefined,
  describe: async () => `a loop of the bare client, without Reprise, with ${await describeServer()}`,
  startServer: startNatsServer,

  work: async ({ url }) => {
    const { js, nc, store } = await open(url)
    const jsm = await jetstreamManager(nc)
    await jsm.consumers.add(streams.commands, { durable_name: durable, ack_policy: AckPolicy.Explicit })
    const entries = new Map<string, number>()
    const take = async (message: JsMsg) => {
      const id = message.subject.slice(message.subject.lastIndexOf(".") + 1)
      const { step, steps } = message.json<Step>()
      const entry = { step, result: payload, next: payload }
      const stored = await store(journal("run", id), streams.journal, `${id}.${step}`, entry, entries.get(id) ?? 0)
      entries.set(id, stored.seq)
      const next = { step: step + 1, steps, result: payload }
      if (step < steps) await store(command("orchestrator", id), streams.commands, `${id}.${step}.next`, next)
      else await store(event("orchestrator", id, "Ended"), streams.events, `${id}.end`, {})
      message.ack()
    }
    const consumer = await js.consumers.get(streams.commands, durable)
    await consumer.consume({ max_messages: 32, callback: (message) => void take(message) })
  },

  client: async ({ url }) => {
    const { nc, store } = await open(url)
    const waiting = new Map<string, () => void>()
    nc.subscribe(events("orchestrator", "*", "Ended"), {
      callback: (_error, { subject }) => waiting.get(subject)?.()
    })
    return {
      run: async ({ id, steps }) => {
        const end = new Promise<void>((resolve) => waiting.set(event("orchestrator", id, "Ended"), resolve))
        await store(command("orchestrator", id), streams.commands, `${id}.start`, { step: 1, steps })
        await end
      }
    }
  }
}

/**
 * Stores copies of a parked run: every message of it in every stream and bucket, each acknowledged to those who have
 * handled the original. The timers are left to the host, which hands them back until they are due.
 */
import { join } from "node:path"
import type { JetStreamClient, JetStreamManager, JsMsg } from "@nats-io/jetstream"
import { headers, nanos } from "@nats-io/transport-node"
import { EmbeddedServer, layerEmbeddedConnection, Nats } from "@reprise/nats"
import { type RunId, subjects } from "@reprise/protocol"
import { Effect, Layer } from "effect"
import { copyOf, type Original, type StoredText } from "./copyOf.ts"

const { buckets, streams } = subjects("reprise")
const objects = `OBJ_${buckets.transcripts}`
const views = `KV_${buckets.views}`
const copiedStreams = [streams.journal, streams.commands, streams.work, streams.events, streams.timers, views]
const handled = [streams.commands, streams.work, streams.events]

/** Copies that are stored side by side. */
const together = 20
const acknowledgedTogether = 5_000

interface Client {
  readonly js: JetStreamClient
  readonly jsm: JetStreamManager
}

const textOf = (message: JsMsg): StoredText => ({
  subject: message.subject,
  headers:
    message.headers === undefined
      ? []
      : [...message.headers].flatMap(([name, values]) => values.map((value) => [name, value] as const)),
  body: message.string()
})

const readStream = async ({ js, jsm }: Client, stream: string): Promise<ReadonlyArray<JsMsg>> => {
  const { messages } = (await jsm.streams.info(stream)).state
  const found: Array<JsMsg> = []
  if (messages === 0) return found
  const consumer = await js.consumers.get(stream)
  for await (const message of await consumer.fetch({ max_messages: messages, expires: 10_000 })) {
    found.push(message)
    if (found.length === messages) break
  }
  return found
}

const isOf = (runId: RunId, { body, subject }: StoredText) =>
  subject.includes(runId) || body.includes(`"runId":"${runId}"`)

/** The conversation that was saved: its text stays as it is, so that its digest does. */
const readConversation = async (client: Client, runId: RunId) => {
  const all = (await readStream(client, objects)).map(textOf)
  const meta = all.find(({ body }) => body.includes(`"name":"session/${runId}-s1/`))
  const nuid = /"nuid":"([^"]+)"/.exec(meta?.body ?? "")?.[1]
  const chunks = all.filter(({ subject }) => nuid !== undefined && subject.endsWith(`.C.${nuid}`))
  if (meta === undefined || nuid === undefined) throw new Error(`${runId} has no saved conversation`)
  return { meta, nuid, chunks }
}

const publish = ({ js }: Client, { body, headers: fields, subject }: StoredText) => {
  const envelope = headers()
  for (const [name, value] of fields) if (!name.startsWith("Nats-Expected")) envelope.append(name, value)
  return js.publish(subject, body, { headers: envelope, timeout: 60_000 })
}

/** The ids of what is stored would fill the broker's memory for ten minutes, as they would not when runs have come one by one. */
const forgetIds = async ({ jsm }: Client) => {
  for (const stream of copiedStreams) {
    if (stream !== views) await jsm.streams.update(stream, { duplicate_window: nanos(100) })
  }
}

const store = async (client: Client, runId: RunId, count: number) => {
  const texts = new Map<string, ReadonlyArray<StoredText>>()
  let original: Original = { runId, sequences: [] }
  for (const stream of copiedStreams) {
    const messages = (await readStream(client, stream)).filter((message) => isOf(runId, textOf(message)))
    texts.set(stream, messages.map(textOf))
    if (stream === streams.journal) original = { runId, sequences: messages.map(({ seq }) => seq) }
  }
  const conversation = await readConversation(client, runId)
  await forgetIds(client)
  const { state } = await client.jsm.streams.info(streams.journal)
  const entries = original.sequences.length
  for (let begun = 0; begun < count; begun += together) {
    const stored: Array<Promise<void>> = []
    for (let n = begun; n < Math.min(count, begun + together); n++) {
      const firstSequence = state.last_seq + 1 + n * entries
      const copied = copyOf(original, { n, firstSequence })
      const nuid = (text: string) =>
        text.replaceAll(conversation.nuid, `${conversation.nuid.slice(0, -6)}${n.toString(36).padStart(6, "0")}`)
      const meta = copied({ ...conversation.meta, body: nuid(conversation.meta.body) })
      const name = /"name":"([^"]+)"/.exec(meta.body)?.[1] ?? ""
      const placed = { ...meta, subject: `$O.${buckets.transcripts}.M.${Buffer.from(name).toString("base64url")}` }
      const chunks = conversation.chunks.map((chunk) => ({ ...chunk, subject: nuid(chunk.subject) }))
      const journal = texts.get(streams.journal) ?? []
      journal.forEach((entry, index) => {
        stored.push(
          publish(client, copied(entry)).then(({ seq }) => {
            if (seq !== firstSequence + index) throw new Error(`entry ${index} of copy ${n} is at ${seq}`)
          })
        )
      })
      const others = copiedStreams
        .filter((stream) => stream !== streams.journal)
        .flatMap((stream) => texts.get(stream) ?? [])
      for (const message of [...others.map(copied), ...chunks, placed])
        stored.push(publish(client, message).then(() => {}))
    }
    await Promise.all(stored)
  }
  await acknowledge(client)
  const all = [...texts.values()].flat().length + conversation.chunks.length + 1
  return { original, messages: all }
}

/** All that waits for those who handle commands, work and events. */
const acknowledge = async ({ js, jsm }: Client) => {
  for (const stream of handled) {
    for await (const { config, name } of jsm.consumers.list(stream)) {
      const { max_ack_pending = 256 } = config
      await jsm.consumers.update(stream, name, { max_ack_pending: 2 * acknowledgedTogether })
      const consumer = await js.consumers.get(stream, name)
      for (let pending = (await consumer.info(false)).num_pending; pending > 0; ) {
        const wanted = Math.min(pending, acknowledgedTogether)
        for await (const message of await consumer.fetch({ max_messages: wanted, expires: 10_000 })) {
          message.ack()
          pending = message.info.pending
        }
      }
      await jsm.consumers.update(stream, name, { max_ack_pending })
    }
  }
}

/** Stores so many copies of the run while nobody else uses the broker of this repository. */
export const storeCopies = (root: string, runId: RunId, count: number) =>
  Effect.flatMap(Nats, ({ js, jsm }) => Effect.promise(() => store({ js, jsm }, runId, count))).pipe(
    Effect.provide(
      layerEmbeddedConnection({ name: "copies" }).pipe(
        Layer.provideMerge(EmbeddedServer.layer({ directory: join(root, ".reprise") }))
      )
    )
  )

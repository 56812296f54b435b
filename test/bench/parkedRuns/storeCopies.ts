/**
 * Stores copies of a parked run: every message of it in every stream and bucket, each acknowledged to those who have
 * handled the original. The timers are left to the host, which hands them back until they are due.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { JetStreamClient, JetStreamManager, JsMsg } from "@nats-io/jetstream"
import { headers, nanos } from "@nats-io/transport-node"
import { EmbeddedServer, layerEmbeddedConnection, Nats } from "@reprise/nats"
import { type RunId, subjects } from "@reprise/protocol"
import { Effect, Layer } from "effect"
import { type Copy, copyOf, type Original, type StoredText } from "./copyOf.ts"

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

/** What is stored for one run. */
interface Stored {
  readonly original: Original
  readonly journal: ReadonlyArray<StoredText>
  readonly others: ReadonlyArray<StoredText>
  readonly conversation: Awaited<ReturnType<typeof readConversation>>
}

const readRun = async (client: Client, runId: RunId): Promise<Stored> => {
  const others: Array<StoredText> = []
  let journal: ReadonlyArray<JsMsg> = []
  for (const stream of copiedStreams) {
    const messages = (await readStream(client, stream)).filter((message) => isOf(runId, textOf(message)))
    if (stream === streams.journal) journal = messages
    else others.push(...messages.map(textOf))
  }
  const original = { runId, sequences: journal.map(({ seq }) => seq) }
  return { original, journal: journal.map(textOf), others, conversation: await readConversation(client, runId) }
}

const storeCopy = async (client: Client, { conversation, journal, original, others }: Stored, copy: Copy) => {
  const copied = copyOf(original, copy)
  const nuid = `${conversation.nuid.slice(0, -6)}${copy.n.toString(36).padStart(6, "0")}`
  const renamed = (text: string) => text.replaceAll(conversation.nuid, nuid)
  const meta = copied({ ...conversation.meta, body: renamed(conversation.meta.body) })
  const name = /"name":"([^"]+)"/.exec(meta.body)?.[1] ?? ""
  const object = { ...meta, subject: `$O.${buckets.transcripts}.M.${Buffer.from(name).toString("base64url")}` }
  const chunks = conversation.chunks.map((chunk) => ({ ...chunk, subject: renamed(chunk.subject) }))
  // The journal first: its entries have to be where the ids of the other messages say.
  const entries = journal.map((entry) => publish(client, copied(entry)))
  await Promise.all([...others.map(copied), ...chunks, object].map((message) => publish(client, message)))
  for (const [index, { seq }] of (await Promise.all(entries)).entries()) {
    if (seq !== copy.firstSequence + index) throw new Error(`entry ${index} of copy ${copy.n} is at ${seq}`)
  }
}

const store = async (client: Client, runId: RunId, count: number) => {
  const stored = await readRun(client, runId)
  await forgetIds(client)
  const { last_seq } = (await client.jsm.streams.info(streams.journal)).state
  for (let begun = 0; begun < count; begun += together) {
    const copies = Array.from({ length: Math.min(together, count - begun) }, (_, index) => begun + index)
    await Promise.all(
      copies.map((n) => storeCopy(client, stored, { n, firstSequence: last_seq + 1 + n * stored.journal.length }))
    )
  }
  await acknowledge(client)
  return { messages: stored.journal.length + stored.others.length + stored.conversation.chunks.length + 1 }
}

/** All that waits for those who handle commands, work and events. A server takes minutes to look for several subjects at once. */
const acknowledge = async ({ js, jsm }: Client) => {
  for (const stream of handled) {
    const { subjects: all = [] } = (await jsm.streams.info(stream)).config
    for await (const { config, name } of jsm.consumers.list(stream)) {
      const { filter_subject = "", filter_subjects = [], max_ack_pending = 256 } = config
      const wide = filter_subjects.length > 1 ? { filter_subject: all[0] ?? ">", filter_subjects: [] } : {}
      await jsm.consumers.update(stream, name, { max_ack_pending: 2 * acknowledgedTogether, ...wide })
      const consumer = await js.consumers.get(stream, name)
      for (let pending = (await consumer.info(false)).num_pending; pending > 0; ) {
        const wanted = Math.min(pending, acknowledgedTogether)
        for await (const message of await consumer.fetch({ max_messages: wanted, expires: 10_000 })) {
          message.ack()
          pending = message.info.pending
        }
      }
      const narrow = filter_subjects.length > 1 ? { filter_subject, filter_subjects } : {}
      await jsm.consumers.update(stream, name, { max_ack_pending, ...narrow })
    }
  }
}

/** The server as Reprise configures it, except that it does not wait for the disk after each of half a million messages. */
const template = () =>
  readFileSync(new URL("../../../nats.conf", import.meta.url), "utf8").replace(
    "sync_interval: always",
    'sync_interval: "1m"'
  )

/** Stores so many copies of the run while nobody else uses the broker of this repository. */
export const storeCopies = (root: string, runId: RunId, count: number) =>
  Effect.flatMap(Nats, ({ js, jsm }) => Effect.promise(() => store({ js, jsm }, runId, count))).pipe(
    Effect.provide(
      layerEmbeddedConnection({ name: "copies" }).pipe(
        Layer.provideMerge(EmbeddedServer.layer({ directory: join(root, ".reprise"), template: template() }))
      )
    )
  )

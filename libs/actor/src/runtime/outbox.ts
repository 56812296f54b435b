/** From what `react` asks for to messages with derived ids. */
import {
  contracts,
  type Key,
  type MessageMeta,
  type PublicEvent,
  type ServiceName,
  type Subjects
} from "@reprise/protocol"
import type { Outgoing } from "../Actor.ts"
import type { Message } from "../broker/Broker.ts"
import type { JournalEntry, JournalledOutgoing } from "../JournalEntry.ts"
import { encodeCommand, encodeEvent, payloadOf } from "../wire.ts"

/** Who sends. */
export interface Sender {
  readonly service: ServiceName
  readonly key: Key
  /** `/<service>/<host>`. */
  readonly source: string
  readonly subjects: Subjects
}

/** Throws when a public command or event does not match its schema. `run`: what the actor says its events belong to. */
export const journalled = (sender: Sender, run: string | undefined, outgoing: Outgoing): JournalledOutgoing => {
  const { key, service, subjects } = sender
  switch (outgoing._tag) {
    case "SendCommand":
      return {
        subject: subjects.command(outgoing.service, outgoing.key),
        type: outgoing.command._tag,
        payload: encodeCommand(outgoing.service, outgoing.command)
      }
    case "PublishEvent":
      return {
        subject: subjects.event(service, run ?? outgoing.event.runId, outgoing.event._tag),
        type: outgoing.event._tag,
        payload: encodeEvent(outgoing.event)
      }
    case "RequestWork":
      return {
        subject: subjects.work(service, outgoing.host, key),
        type: outgoing.work._tag,
        payload: payloadOf(outgoing.work)
      }
    case "SetTimer":
      return {
        subject: subjects.timer(service, key),
        type: outgoing.command._tag,
        payload: encodeCommand(service, outgoing.command),
        dueAt: outgoing.dueAt
      }
  }
}

/** What an entry at `sequence` sends: the same messages, ids included, however often it is asked. */
export const messagesOf = (sender: Sender, entry: JournalEntry, sequence: number): ReadonlyArray<Message> =>
  entry.outgoing.map((outgoing, n) => ({
    subject: outgoing.subject,
    body: JSON.stringify(outgoing.payload),
    meta: {
      id: `${contracts[sender.service].actor}.${sender.key}.${sequence}.${n}`,
      type: outgoing.type,
      source: sender.source,
      subject: entry.run,
      time: entry.at,
      traceparent: entry.traceparent,
      causation: entry.input.id
    },
    ...(outgoing.dueAt === undefined ? {} : { dueAt: outgoing.dueAt })
  }))

/** The answer to a refused input, published under an id that derives from the input's. */
export const refusalMessage = (
  sender: Sender,
  refused: { readonly meta: MessageMeta; readonly run: string; readonly at: string },
  event: PublicEvent,
  traceparent: string
): Message => ({
  subject: sender.subjects.event(sender.service, refused.run, event._tag),
  body: JSON.stringify(encodeEvent(event)),
  meta: {
    id: refusalIdOf(refused.meta.id),
    type: event._tag,
    source: sender.source,
    subject: refused.run,
    time: refused.at,
    traceparent,
    causation: refused.meta.id
  }
})

/** An id may be 200 characters long, so the suffix replaces the end of one that has no room for it. */
export const refusalIdOf = (inputId: string): string => `${inputId.slice(0, 190)}.refused`

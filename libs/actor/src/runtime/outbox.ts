/** Turns what `react` returns into messages, with ids that derive from the journal. */
import { contracts, defined, type Key, type ServiceName, type Subjects } from "@reprise/protocol"
import type { AnyOutgoing } from "../Actor.ts"
import type { Message } from "../broker/Broker.ts"
import type { JournalledOutgoing } from "../JournalEntry.ts"
import { encodeCommand, encodeEvent, payloadOf } from "../wire.ts"
import type { WrittenEntry } from "./ActorMemory.ts"

/** The actor that sends. */
export interface Sender {
  readonly service: ServiceName
  readonly key: Key
  /** `/<service>/<host>`. */
  readonly source: string
  readonly subjects: Subjects
}

/**
 * What the journal keeps of an outgoing message. Throws when a public command or event does not match its schema.
 * `run`: the run that the actor's events belong to, once the actor knows it.
 */
export const journalled = (sender: Sender, run: string | undefined, outgoing: AnyOutgoing): JournalledOutgoing => {
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

/** What an entry that is in the journal sends: the same messages with the same ids, however often it is asked. */
export const messagesOf = (sender: Sender, { entry, sequence }: WrittenEntry): ReadonlyArray<Message> =>
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
    ...defined({ dueAt: outgoing.dueAt })
  }))

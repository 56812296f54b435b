/** Subjects, streams and headers, built by the functions that the services use. */
import { type StreamDefinition, streamDefinitions } from "@reprise/nats"
import { encodeMeta, subjects } from "@reprise/protocol"
import { code, table } from "./markdown.ts"

const prefix = "reprise"
const s = subjects(prefix)
const day = 24 * 60 * 60 * 1e9

/** What the wildcards of a stream's subject stand for, and what is in it. */
const contents: Readonly<Record<string, readonly [tokens: ReadonlyArray<string>, what: string]>> = {
  [s.streams.commands]: [["service", "key"], "commands; each service has one durable consumer"],
  [s.streams.work]: [["service", "host", "key"], "long work for a host; `any` until a host has taken the run"],
  [s.streams.events]: [["service", "run id", "Type"], "public events; anyone with the rights may read them"],
  [s.streams.journal]: [["actor", "key"], "each actor's private, ordered events; written by its service alone"],
  [s.streams.timers]: [["service", "key"], "commands that a service sends itself, delivered when they are due"],
  [s.streams.dead]: [["service", "key"], "messages that could not be handled, with the reason"],
  [s.buckets.snapshots]: [[], "states of actors, so that long journals load fast"],
  [s.buckets.views]: [[], "read models for queries; can be rebuilt from the journals"],
  [s.buckets.transcripts]: [[], "bodies that are too large for a message"]
}

const kinds: Readonly<Record<StreamDefinition["kind"], string>> = {
  stream: "stream",
  bucket: "key-value bucket",
  objects: "object store"
}

const subjectOf = ({ config, kind }: StreamDefinition, tokens: ReadonlyArray<string>): string => {
  if (kind !== "stream") return ""
  const rest = [...tokens]
  return code((config.subjects?.[0] ?? "").replace(/\*/g, () => `<${rest.shift() ?? "…"}>`))
}

const kept = ({ config, kind }: StreamDefinition): string => {
  const age = config.max_age ?? 0
  if (age > 0) return `${age / day} days`
  return kind === "bucket" ? "the last value of each key" : "without an age limit"
}

export const streamBlocks: ReadonlyArray<string> = [
  table(
    ["name", "subject", "kept", "share of the quota", "holds"],
    streamDefinitions(prefix).map((definition) => {
      const [tokens, what] = contents[definition.name] ?? [[], ""]
      return [
        `${code(definition.name)} (${kinds[definition.kind]})`,
        subjectOf(definition, tokens),
        kept(definition),
        `${definition.share} %`,
        what
      ]
    })
  ),
  "All of them are on disk, with retention by limits and a quota. A full stream refuses new messages and loses no old ones. A message id is stored once within ten minutes; after that, each service remembers the ids that it has handled."
]

const RUN = "RUN"
const QUESTION = "QUESTION"

export const subjectBlocks: ReadonlyArray<string> = [
  table(
    ["to", "subject"],
    [
      ["see every question to a human, of every run", code(s.events("gate", "*", "EscalationRaised"))],
      ["follow one run", code(s.events("*", RUN))],
      ["follow everything", code(s.events())],
      ["answer a question (`AnswerEscalation`)", code(s.command("gate", QUESTION))],
      ["pause, resume or abort a run", code(s.command("orchestrator", RUN))],
      ["list the runs (request, reply)", code(s.api("orchestrator", "list"))],
      ["list the questions (request, reply)", code(s.api("gate", "list"))],
      ["read dead letters", code(`${prefix}.dead.>`)]
    ]
  ),
  "The key of an event's subject is the run's id, whichever service publishes it. Every service also answers NATS's service pings: `nats micro ls` lists them."
]

const meanings: Readonly<Record<string, string>> = {
  "Nats-Msg-Id": "the same as `ce-id`: the stream stores an id once",
  "ce-specversion": "always the same",
  "ce-id": "the message's id, 1 to 200 visible ASCII characters; a repeat has the same",
  "ce-type": "the type between `dev.reprise.` and the version",
  "ce-source": "who sent it: service and host",
  "ce-subject": "the run that it belongs to",
  "ce-time": "when it was sent",
  "content-type": "always the same",
  traceparent: "W3C trace context; optional",
  "reprise-causation": "id of the message that led to this one; optional"
}

const sample = encodeMeta({
  id: "answer-1",
  type: "AnswerEscalation",
  source: "/gate/local",
  subject: "r1-abc",
  time: "2026-01-01T00:00:00.000Z",
  traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  causation: "start-r1-abc"
})

export const envelopeBlocks: ReadonlyArray<string> = [
  "CloudEvents 1.0 in NATS binary mode. The headers are the envelope, the body is the payload alone.",
  table(
    ["header", "example", "is"],
    Object.entries(sample).map(([name, value]) => [code(name), code(value), meanings[name] ?? ""])
  ),
  `A body over 512 KiB is stored in the object store ${code(s.buckets.transcripts)}: the message is empty and its header \`reprise-body\` names the object. The reply to a query is compressed instead, with the header \`content-encoding: gzip\`, if the query has the header \`accept-encoding: gzip\` and the reply then fits.`
]

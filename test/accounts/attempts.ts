/**
 * What one identity tries to do with what belongs to another. Written by hand, from docs/design/protocol.md and not from
 * the table of permissions, so that a mistake in the table is found.
 */
import type { Identity } from "@reprise/nats"
import type { ServiceName } from "@reprise/protocol"

export interface Attempt {
  readonly does: "publish" | "subscribe"
  readonly subject: string
  /** What it would be, in words. */
  readonly what: string
}

export const services: ReadonlyArray<ServiceName> = ["orchestrator", "session-manager", "reviewer", "gate", "workspace"]
export const everybody: ReadonlyArray<Identity> = [...services, "person", "operator"]

const actors: Readonly<Record<ServiceName, string>> = {
  orchestrator: "run",
  "session-manager": "session",
  reviewer: "review",
  gate: "escalation",
  workspace: "workspace"
}

/** Services that do work on hosts. */
const workers: ReadonlyArray<ServiceName> = ["session-manager", "workspace", "gate"]

const consumersOf = (service: ServiceName): ReadonlyArray<readonly [string, string, string]> => [
  ["COMMANDS", `commands-${service}`, `reprise.command.${service}.*`],
  ["EVENTS", `events-${service}`, "reprise.event.*.*.RunStarted"],
  ["TIMERS", `timers-${service}`, `reprise.timer.${service}.*`],
  ...(workers.includes(service) ? ["any", "local"] : []).map(
    (host) => ["WORK", `work-${service}-${host}`, `reprise.work.${service}.${host}.*`] as const
  )
]

const publish = (subject: string, what: string): Attempt => ({ does: "publish", subject, what })
const subscribe = (subject: string, what: string): Attempt => ({ does: "subscribe", subject, what })

/** To send a command: some may, as the picture in docs/design/architecture.md shows. */
export const commandTo = (service: ServiceName) =>
  publish(`reprise.command.${service}.k1`, `send a command to the ${service}`)

/** What only the service itself may write. */
export const writesOf = (service: ServiceName): ReadonlyArray<Attempt> => [
  publish(`reprise.event.${service}.r1.RunStarted`, `publish an event of the ${service}`),
  publish(`reprise.journal.${actors[service]}.k1`, `write a journal of the ${service}`),
  publish(`reprise.timer.${service}.k1`, `set a timer of the ${service}`),
  publish(`reprise.dead.${service}.k1`, `store a dead letter of the ${service}`),
  publish(`$KV.reprise_snapshots.${actors[service]}.k1`, `write a snapshot of the ${service}`),
  publish(`$KV.reprise_views.${service}.k1`, `write a view of the ${service}`),
  ...(workers.includes(service)
    ? [
        publish(`reprise.work.${service}.local.k1`, `ask for work of the ${service}`),
        publish(`$KV.reprise_views.host.${service}.local`, `claim a host of the ${service}`)
      ]
    : []),
  ...(service === "workspace"
    ? [
        publish("$KV.reprise_views.lease.tree", "take a working tree"),
        publish("$KV.reprise_views.lease-host.local", "say that a host keeps its working trees")
      ]
    : []),
  ...(service === "session-manager"
    ? [publish("reprise.live.session-manager.r1.AgentWorking", "tell what an agent does right now")]
    : [])
]

/** What the service takes and reads. */
export const readsOf = (service: ServiceName): ReadonlyArray<Attempt> => [
  ...consumersOf(service).flatMap(([stream, name, filter]) => [
    publish(`$JS.API.CONSUMER.MSG.NEXT.REPRISE_${stream}.${name}`, `take messages of ${name}`),
    publish(`$JS.ACK.REPRISE_${stream}.${name}.1.1.1.1.0`, `acknowledge a message of ${name}`),
    publish(`$JS.API.CONSUMER.CREATE.REPRISE_${stream}.${name}`, `change ${name}`),
    publish(`$JS.API.CONSUMER.DURABLE.CREATE.REPRISE_${stream}.${name}`, `change ${name}, as before 2.9`),
    publish(`$JS.API.CONSUMER.CREATE.REPRISE_${stream}.${name}.${filter}`, `change ${name}, with its filter`)
  ]),
  publish(
    `$JS.API.DIRECT.GET.KV_reprise_snapshots.$KV.reprise_snapshots.${actors[service]}.k1`,
    `read a snapshot of the ${service}`
  ),
  publish(`$JS.API.DIRECT.GET.KV_reprise_views.$KV.reprise_views.${service}.k1`, `read a view of the ${service}`),
  publish(
    `$JS.API.CONSUMER.CREATE.REPRISE_JOURNAL.c1.reprise.journal.${actors[service]}.k1`,
    `read a journal of the ${service} by a consumer`
  ),
  ...(service === "workspace"
    ? [publish("$JS.API.CONSUMER.CREATE.KV_reprise_views.c1.$KV.reprise_views.lease.>", "list the leases")]
    : [])
]

/** To remove a consumer is the operator's: not even the service itself does it. */
export const removalsOf = (service: ServiceName): ReadonlyArray<Attempt> =>
  consumersOf(service).flatMap(([stream, name]) => [
    publish(`$JS.API.CONSUMER.DELETE.REPRISE_${stream}.${name}`, `remove ${name}`)
  ])

/** To answer in the place of a service, and to hear what it is answered. */
export const answersOf = (service: ServiceName): ReadonlyArray<Attempt> => [
  subscribe(`reprise.api.${service}.list`, `answer queries of the ${service}`),
  subscribe(`$SRV.PING.${service}`, `answer pings of the ${service}`)
]

export const inboxOfEach: Readonly<Record<Identity, string>> = {
  orchestrator: "_INBOX_orchestrator",
  "session-manager": "_INBOX_session-manager",
  reviewer: "_INBOX_reviewer",
  gate: "_INBOX_gate",
  workspace: "_INBOX_workspace",
  person: "_INBOX",
  operator: "_INBOX_operator"
}

export const listening = (identity: Identity): ReadonlyArray<Attempt> => [
  subscribe(`${inboxOfEach[identity]}.>`, `hear every answer to the ${identity}`),
  subscribe(`${inboxOfEach[identity]}.one.*`, `hear some answers to the ${identity}`)
]

/** An answer that nobody asked for. */
export const forgedAnswer = (identity: Identity) =>
  publish(`${inboxOfEach[identity]}.one.two`, `send the ${identity} an answer that it did not ask for`)

/** What nobody but the operator may do. */
export const administration: ReadonlyArray<Attempt> = [
  ...["REPRISE_COMMANDS", "REPRISE_EVENTS", "REPRISE_JOURNAL", "KV_reprise_views", "OBJ_reprise_transcripts"].flatMap(
    (stream) => [
      publish(`$JS.API.STREAM.CREATE.${stream}`, `make ${stream}`),
      publish(`$JS.API.STREAM.UPDATE.${stream}`, `change ${stream}`),
      publish(`$JS.API.STREAM.MSG.DELETE.${stream}`, `remove a message of ${stream}`),
      publish(`$JS.API.STREAM.SNAPSHOT.${stream}`, `copy all of ${stream}`)
    ]
  ),
  ...["REPRISE_COMMANDS", "REPRISE_EVENTS", "REPRISE_JOURNAL", "KV_reprise_views"].map((stream) =>
    publish(`$JS.API.STREAM.PURGE.${stream}`, `empty ${stream}`)
  ),
  publish("$JS.API.STREAM.CREATE.OTHER", "make a stream of its own"),
  publish("$JS.API.CONSUMER.CREATE.REPRISE_COMMANDS.c1.reprise.command.gate.k1", "read commands by a consumer"),
  publish("$JS.API.CONSUMER.CREATE.REPRISE_EVENTS", "make a consumer whose name the server does not compare")
]

/** What nobody may do, not even the operator. */
export const forbidden: ReadonlyArray<Attempt> = [
  subscribe(">", "hear everything"),
  subscribe("reprise.>", "hear everything of Reprise"),
  subscribe("reprise.command.>", "hear every command"),
  subscribe("_INBOX*.>", "hear every inbox"),
  subscribe("*.>", "hear everything below a first token"),
  subscribe("$JS.API.>", "hear every request to JetStream"),
  publish("$SYS.REQ.SERVER.PING.VARZ", "ask the server for its statistics"),
  publish("other.command.gate.k1", "use another tenant's subjects")
]

/**
 * What each identity may do on the broker: the one table from which the servers' configurations are made
 * (docs/security.md#who-may-do-what-on-the-broker). Whatever is not allowed here is refused by the server. Pure.
 */
import { contracts, durableOf, type Host, ServiceName, subjects as subjectsOf, workDurableOf } from "@reprise/protocol"
import { streamDefinitions } from "../streams.ts"
import { type Identity, inboxOf } from "./Identity.ts"

export interface Permissions {
  /** `deny` is stronger. */
  readonly publish: { readonly allow: ReadonlyArray<string>; readonly deny: ReadonlyArray<string> }
  readonly subscribe: { readonly allow: ReadonlyArray<string> }
  /** Whether it may answer a request, wherever the answer is to go. */
  readonly answers: boolean
}

export interface Tenant {
  readonly prefix: string
  /** The names of the hosts that may do work; work for any host is always included. */
  readonly hosts: ReadonlyArray<Host>
}

interface ServiceRole {
  /** The services to which it sends commands, besides itself: reports, and what its timers lead to. */
  readonly commands: ReadonlyArray<ServiceName>
  /** The services whose queries it asks. */
  readonly asks: ReadonlyArray<ServiceName>
  /** It does work on hosts. */
  readonly works: boolean
}

const roles: Readonly<Record<ServiceName, ServiceRole>> = {
  orchestrator: {
    commands: ["session-manager", "reviewer", "gate", "workspace"],
    asks: ["orchestrator", "session-manager", "reviewer", "workspace"],
    works: false
  },
  "session-manager": {
    commands: ["orchestrator"],
    asks: ["session-manager"],
    works: true
  },
  reviewer: { commands: ["session-manager"], asks: [], works: false },
  gate: { commands: ["orchestrator"], asks: ["gate"], works: true },
  workspace: { commands: [], asks: ["workspace"], works: true }
}

const services = ServiceName.literals

const streamInfo = (stream: string) => `$JS.API.STREAM.INFO.${stream}`
/** The server cannot tell by the request which message of the stream is read. */
const readMessages = (stream: string) => `$JS.API.STREAM.MSG.GET.${stream}`
const readLast = (stream: string, subject: string) => `$JS.API.DIRECT.GET.${stream}.${subject}`

/** Using a consumer of a fixed name, and making it. */
const useDurable = (stream: string, name: string) => [
  `$JS.API.CONSUMER.INFO.${stream}.${name}`,
  `$JS.API.CONSUMER.CREATE.${stream}.${name}`,
  `$JS.API.CONSUMER.CREATE.${stream}.${name}.>`,
  // With several filters the client asks for it in this way.
  `$JS.API.CONSUMER.DURABLE.CREATE.${stream}.${name}`,
  `$JS.API.CONSUMER.MSG.NEXT.${stream}.${name}`,
  `$JS.ACK.${stream}.${name}.>`
]

/** Reading by consumers that are removed afterwards: the messages of this subject. */
const readBy = (stream: string, subject: string) => [
  `$JS.API.CONSUMER.CREATE.${stream}.*.${subject}`,
  ...["INFO", "MSG.NEXT", "DELETE"].map((request) => `$JS.API.CONSUMER.${request}.${stream}.*`)
]

/** The same for messages of several subjects, which the request does not name. */
const readAll = (stream: string) => [`$JS.API.CONSUMER.CREATE.${stream}.*`, ...readBy(stream, ">")]

/** An object comes with flow control, which the reader answers. */
const readObjects = (stream: string) => [readMessages(stream), ...readAll(stream), `$JS.FC.${stream}.>`]

const namesOf = (prefix: string) => {
  const { buckets, streams } = subjectsOf(prefix)
  return {
    ...streams,
    snapshots: { stream: `KV_${buckets.snapshots}`, key: (key: string) => `$KV.${buckets.snapshots}.${key}` },
    views: { stream: `KV_${buckets.views}`, key: (key: string) => `$KV.${buckets.views}.${key}` },
    objects: { stream: `OBJ_${buckets.transcripts}`, subject: `$O.${buckets.transcripts}.>` }
  }
}

/** A service that reads the event stream must not use the consumers of the others there, nor remove them. */
const consumersOfOthers = (events: string, self?: ServiceName) =>
  services
    .filter((service) => service !== self)
    .map((service) => durableOf("events", service))
    .flatMap((name) => [
      `$JS.API.CONSUMER.*.${events}.${name}`,
      `$JS.API.CONSUMER.CREATE.${events}.${name}.>`,
      `$JS.API.CONSUMER.*.*.${events}.${name}`,
      `$JS.ACK.${events}.${name}.>`
    ])

const infoOfAll = (prefix: string) => streamDefinitions(prefix).map(({ stream }) => streamInfo(stream))

/** The names under which a service answers NATS's own pings. */
const pings = (names: ReadonlyArray<string>) => [
  "$SRV.*",
  ...names.flatMap((name) => [`$SRV.*.${name}`, `$SRV.*.${name}.*`])
]

const workOf = (service: ServiceName, { hosts, prefix }: Tenant) => {
  const { views, work } = namesOf(prefix)
  const claims = views.key(`host.${service}.*`)
  const leases = service === "workspace" ? [views.key("lease.>"), views.key("lease-host.*")] : []
  return {
    names: [`${service}-worker`, `${service}-host`, `${service}-watch`],
    publish: [
      `${prefix}.work.${service}.*.*`,
      readMessages(work),
      ...["any", ...hosts].flatMap((host) => useDurable(work, workDurableOf(service, host as Host))),
      ...[claims, ...leases].flatMap((key) => [key, readLast(views.stream, key)]),
      ...readBy(views.stream, views.key(`host.${service}.>`)),
      // The runs that have a slot of the host.
      ...(service === "workspace" ? readBy(views.stream, views.key("lease.>")) : [])
    ]
  }
}

const permissionsOfService = (service: ServiceName, tenant: Tenant): Permissions => {
  const { prefix } = tenant
  const { asks, commands, works } = roles[service]
  const { actor } = contracts[service]
  const names = namesOf(prefix)
  const { objects, snapshots, views } = names
  const work = works ? workOf(service, tenant) : { names: [], publish: [] }
  return {
    publish: {
      allow: [
        ...[service, ...commands].map((to) => `${prefix}.command.${to}.*`),
        `${prefix}.event.${service}.*.*`,
        // What its agents do right now.
        ...(service === "session-manager" ? [`${prefix}.live.${service}.*.*`] : []),
        `${prefix}.journal.${actor}.*`,
        `${prefix}.timer.${service}.*`,
        `${prefix}.dead.${service}.*`,
        ...asks.map((of) => `${prefix}.api.${of}.>`),
        ...work.publish,
        snapshots.key(`${actor}.*`),
        readLast(snapshots.stream, snapshots.key(`${actor}.*`)),
        views.key(`${service}.*`),
        readLast(views.stream, views.key(`${service}.*`)),
        ...readBy(views.stream, views.key(`${service}.>`)),
        objects.subject,
        ...readObjects(objects.stream),
        `$JS.API.STREAM.PURGE.${objects.stream}`,
        "$JS.API.INFO",
        ...infoOfAll(prefix),
        ...[names.commands, names.timers, names.events].map(readMessages),
        ...useDurable(names.commands, durableOf("commands", service)),
        ...useDurable(names.timers, durableOf("timers", service)),
        ...useDurable(names.events, durableOf("events", service)),
        ...readBy(names.events, `${prefix}.event.${service}.>`),
        readMessages(names.journal),
        ...readBy(names.journal, `${prefix}.journal.${actor}.*`)
      ],
      deny: consumersOfOthers(names.events, service)
    },
    subscribe: {
      allow: [`${inboxOf(service)}.>`, `${prefix}.api.${service}.>`, ...pings([service, ...work.names])]
    },
    answers: true
  }
}

/** Starts and continues runs and sessions, answers questions, watches; stores nothing but commands, and removes nothing. */
const permissionsOfPerson = ({ prefix }: Tenant): Permissions => {
  const names = namesOf(prefix)
  return {
    publish: {
      allow: [
        ...(["orchestrator", "session-manager", "gate"] as const).map((to) => `${prefix}.command.${to}.*`),
        `${prefix}.api.>`,
        "$SRV.>",
        "$JS.API.INFO",
        "$JS.API.STREAM.NAMES",
        "$JS.API.STREAM.LIST",
        ...infoOfAll(prefix),
        readMessages(names.events),
        `$JS.API.DIRECT.GET.${names.events}`,
        readLast(names.events, ">"),
        ...readAll(names.events),
        `$JS.API.CONSUMER.DURABLE.CREATE.${names.events}.*`,
        `$JS.API.CONSUMER.NAMES.${names.events}`,
        `$JS.API.CONSUMER.LIST.${names.events}`,
        `$JS.ACK.${names.events}.*.>`,
        `$JS.FC.${names.events}.>`,
        // One by one: by a consumer, the server would also send them to the subject of an event, if asked to.
        readMessages(names.journal),
        readMessages(names.dead),
        ...readObjects(names.objects.stream)
      ],
      deny: consumersOfOthers(names.events)
    },
    subscribe: { allow: [`${inboxOf("person")}.>`, `${prefix}.event.>`, `${prefix}.live.>`] },
    answers: false
  }
}

/** Everything with what is stored. It answers for no service, and hears no replies but its own. */
const permissionsOfOperator = ({ prefix }: Tenant): Permissions => {
  const { objects, snapshots, views } = namesOf(prefix)
  return {
    publish: {
      allow: [
        `${prefix}.>`,
        snapshots.key(">"),
        views.key(">"),
        objects.subject,
        "$JS.API.>",
        "$JS.ACK.>",
        "$JS.FC.>",
        "$SRV.>"
      ],
      deny: []
    },
    subscribe: { allow: [`${inboxOf("operator")}.>`, `${prefix}.event.>`, `${prefix}.live.>`, `${prefix}.dead.>`] },
    answers: false
  }
}

/** What an identity may do with the data of a tenant, whose prefix must have passed `checkPrefix`. */
export const permissionsOf = (identity: Identity, tenant: Tenant): Permissions => {
  switch (identity) {
    case "person":
      return permissionsOfPerson(tenant)
    case "operator":
      return permissionsOfOperator(tenant)
    default:
      return permissionsOfService(identity, tenant)
  }
}

/** Of the user in the system account: it asks the servers for their statistics, and can do nothing with them. */
export const permissionsOfSystem: Permissions = {
  publish: { allow: ["$SYS.REQ.SERVER.PING.VARZ"], deny: [] },
  subscribe: { allow: [`${inboxOf("person")}.>`] },
  answers: false
}

/** The one place that builds and reads subjects (docs/design/protocol.md#subjects-and-streams). */
import { Schema } from "effect"
import { contracts } from "./contracts/contracts.ts"
import type { ServiceName } from "./ids.ts"
import { type Host, isKey, type Key, type RunId } from "./ids.ts"

export class BadSubject extends Schema.TaggedError<BadSubject>()("BadSubject", { subject: Schema.String }) {
  override get message() {
    return `'${this.subject.slice(0, 80)}' cannot be part of a subject: use 1 to 64 letters, digits, '_' or '-'.`
  }
}

const token = (text: string): string => {
  if (!isKey(text)) throw new BadSubject({ subject: text })
  return text
}

/**
 * Every subject, stream and bucket of one tenant. `prefix` is `reprise` unless configured. Names with a plural `s` are
 * patterns for consumers (`*` stands for any token), the others are subjects of one message. Each throws `BadSubject`
 * for a part that may not stand in a subject.
 *
 * @example
 * subjects("reprise").command("gate", "r1-e1") // reprise.command.gate.r1-e1
 * subjects("reprise").events("*", "r1") // reprise.event.*.r1.*
 */
export const subjects = (prefix: string) => {
  const p = token(prefix)
  const upper = p.toUpperCase()
  return {
    command: (service: ServiceName, key: Key) => `${p}.command.${service}.${token(key)}`,
    commands: (service: ServiceName) => `${p}.command.${service}.*`,
    work: (service: ServiceName, host: Host, key: Key) => `${p}.work.${service}.${token(host)}.${token(key)}`,
    works: (service: ServiceName, host: Host) => `${p}.work.${service}.${token(host)}.*`,
    event: (service: ServiceName, run: RunId | Key, type: string) =>
      `${p}.event.${service}.${token(run)}.${token(type)}`,
    events: (service: ServiceName | "*" = "*", run: RunId | Key | "*" = "*", type = "*") =>
      `${p}.event.${service}.${run === "*" ? run : token(run)}.${type === "*" ? type : token(type)}`,
    /** Told to whoever listens, and kept by no stream. */
    live: (service: ServiceName, run: RunId | Key, type: string) => `${p}.live.${service}.${token(run)}.${token(type)}`,
    lives: (run: RunId | Key | "*" = "*") => `${p}.live.*.${run === "*" ? run : token(run)}.*`,
    journal: (actor: string, key: Key) => `${p}.journal.${token(actor)}.${token(key)}`,
    timer: (service: ServiceName, key: Key) => `${p}.timer.${service}.${token(key)}`,
    timers: (service: ServiceName) => `${p}.timer.${service}.*`,
    /** The subjects of all that is stored for one actor alone, by stream; pruning removes it. */
    owned: (service: ServiceName, key: Key) =>
      ({
        commands: `${p}.command.${service}.${token(key)}`,
        work: `${p}.work.${service}.*.${token(key)}`,
        timers: `${p}.timer.${service}.${token(key)}`,
        journal: `${p}.journal.${contracts[service].actor}.${token(key)}`
      }) as const,
    dead: (service: string, key: Key) => `${p}.dead.${token(service)}.${token(key)}`,
    deads: () => `${p}.dead.*.*`,
    api: (service: ServiceName, query: string) => `${p}.api.${service}.${token(query)}`,
    /** Answered by the workers that do the service's work on this host. */
    worker: (service: ServiceName, host: Host) => `${p}.api.${service}.worker.${token(host)}`,
    /** Asks the worker of this host to take no new work, or to take it again: `DrainHost`. */
    drain: (service: ServiceName, host: Host) => `${p}.api.${service}.drain.${token(host)}`,
    /** Asks a host for what lies there of a run: `LookAtWork`. */
    look: (host: Host) => `${p}.api.workspace.look.${token(host)}`,
    /** Answered by the watch over the sessions of this host, with `SessionsAtWork`. */
    watch: (host: Host) => `${p}.api.session-manager.watch.${token(host)}`,
    streams: {
      commands: `${upper}_COMMANDS`,
      work: `${upper}_WORK`,
      events: `${upper}_EVENTS`,
      journal: `${upper}_JOURNAL`,
      timers: `${upper}_TIMERS`,
      dead: `${upper}_DEAD`
    },
    buckets: { snapshots: `${p}_snapshots`, views: `${p}_views`, transcripts: `${p}_transcripts` }
  }
}
export type Subjects = ReturnType<typeof subjects>

/** The name of a service's consumer, the same for all who share it: of its commands, its events or its timers. */
export const durableOf = (stream: "commands" | "events" | "timers", service: ServiceName): string =>
  `${stream}-${service}`

/** The name of the consumer of a service's work on a host. */
export const workDurableOf = (service: ServiceName, host: Host): string => `work-${service}-${host}`

/** The run that an event's subject names: the token before the type, which is the last. */
export const runOfSubject = (subject: string): Key | undefined =>
  keyOfSubject(subject.slice(0, subject.lastIndexOf(".")))

/** The actor's key in the subject of a command, work, a journal, a timer or a dead letter; undefined if it is no key. */
export const keyOfSubject = (subject: string): Key | undefined => {
  const last = subject.slice(subject.lastIndexOf(".") + 1)
  return isKey(last) ? last : undefined
}

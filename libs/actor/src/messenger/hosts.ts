/** Asking hosts which there are, and to take no new work (docs/design/protocol.md#subjects-and-streams). */
import {
  ConsoleChanges,
  ConsoleText,
  defined,
  type Host,
  HostView,
  LookAtWork,
  type RunId,
  type ServiceName,
  subjects as subjectsOf
} from "@reprise/protocol"
import { Effect, Schema } from "effect"
import type { ActorSettings } from "../ActorConfig.ts"
import type { BrokerShape } from "../broker/Broker.ts"
import { askAt, badReply, type QueryFailed } from "./queries.ts"

export interface Hosts {
  /** The hosts that ever did a service's work. Fails with the code `not-running` where none is there that could say. */
  readonly hosts: (service: ServiceName) => Effect.Effect<ReadonlyArray<HostView>, QueryFailed>
  /**
   * Has a host take no new work of a service, or take it again, and gives what it stored. Asked again, nothing changes.
   * Fails with the code `not-running` where the host does not answer.
   */
  readonly setDrained: (service: ServiceName, host: Host, drained: boolean) => Effect.Effect<HostView, QueryFailed>
  /**
   * The changes of a run since a commit, from the host that has its working tree. Fails with the code `nothing-to-show`
   * where it is not there any more, and with `not-running` where the host does not answer.
   */
  readonly changesAt: (host: Host, runId: RunId, base?: string) => Effect.Effect<ConsoleChanges, QueryFailed>
  /** The logs of quality gates of a run, by their paths; likewise. */
  readonly gateLogsAt: (
    host: Host,
    runId: RunId,
    logs: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyArray<ConsoleText>, QueryFailed>
}

const decodeOne = Schema.decodeUnknownEffect(HostView)
const decodeChanges = Schema.decodeUnknownEffect(ConsoleChanges)
const decodeLogs = Schema.decodeUnknownEffect(Schema.Array(ConsoleText))
const encodeLook = Schema.encodeSync(LookAtWork)
const decodeAll = Schema.decodeUnknownEffect(Schema.Array(HostView))

export const makeHosts = (broker: BrokerShape, { prefix }: ActorSettings): Hosts => {
  const subjects = subjectsOf(prefix)
  const look = (host: Host, wanted: LookAtWork) => askAt(broker, "workspace", subjects.look(host), encodeLook(wanted))
  return {
    hosts: (service) =>
      askAt(broker, service, subjects.api(service, "hosts"), {}).pipe(
        Effect.flatMap((data) => Effect.mapError(decodeAll(data), badReply))
      ),
    setDrained: (service, host, drained) =>
      askAt(broker, service, subjects.drain(service, host), { drained }).pipe(
        Effect.flatMap((data) => Effect.mapError(decodeOne(data), badReply))
      ),
    changesAt: (host, runId, base) =>
      look(host, { _tag: "Changes", runId, ...defined({ base }) }).pipe(
        Effect.flatMap((data) => Effect.mapError(decodeChanges(data), badReply))
      ),
    gateLogsAt: (host, runId, logs) =>
      look(host, { _tag: "GateLogs", runId, logs }).pipe(
        Effect.flatMap((data) => Effect.mapError(decodeLogs(data), badReply))
      )
  }
}

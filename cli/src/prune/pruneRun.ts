/** Removes what is stored of a finished run, after its record is archived. Broken off, it can be done again. */
import { rm } from "node:fs/promises"
import { join } from "node:path"
import { ActorConfig, Broker } from "@reprise/actor"
import { contracts, subjects } from "@reprise/protocol"
import { Effect } from "effect"
import { missing } from "../CliFailure.ts"
import type { Project } from "../project/Project.ts"
import { archiveRun } from "./archiveRun.ts"
import { keepConversations } from "./keepConversations.ts"
import { type ActorName, actorsOf, type RunRecord } from "./RunRecord.ts"

const streams = ["commands", "work", "timers", "journal"] as const

/** The view goes last: as long as it is there, the actor is found again. */
export const purgeActor = Effect.fnUntraced(function* ({ key, service }: ActorName) {
  const broker = yield* Broker
  const { prefix } = yield* ActorConfig
  const owned = subjects(prefix).owned(service, key)
  yield* Effect.forEach(streams, (stream) => broker.purge(stream, owned[stream]), { discard: true })
  yield* broker.snapshots.remove(`${contracts[service].actor}.${key}`)
  yield* broker.views.remove(`${service}.${key}`)
})

const removeLogs = (project: Project, runId: string) =>
  Effect.tryPromise({
    try: () => rm(join(project.directory, "logs", runId), { recursive: true, force: true }),
    catch: (cause) => missing("logs", `The logs of ${runId} cannot be removed.`, "Check their permissions.", cause)
  })

/** Gives the path of the archive. */
export const pruneRun = Effect.fn("pruneRun")(function* (project: Project, record: RunRecord) {
  const broker = yield* Broker
  const { prefix } = yield* ActorConfig
  const { runId } = record.run
  const archive = yield* archiveRun(project, runId, record)
  yield* keepConversations(project, record.sessions)
  yield* removeLogs(project, runId)
  yield* broker.purge("events", subjects(prefix).events("*", runId))
  yield* Effect.forEach(actorsOf(record), purgeActor, { discard: true })
  return archive
})

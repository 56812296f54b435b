/**
 * Ends a run of which something cannot be read. What still works is told that the run is aborted, as the run itself would
 * do; what is broken is removed, and stays in the list as ended, so that `reprise prune` finds the run and all that is
 * left of it. Every step can be repeated after an interruption.
 */
import { Broker, Messenger } from "@reprise/actor"
import { PublicEvent, to } from "@reprise/protocol"
import { Clock, Effect, Option, Schedule, Schema } from "effect"
import { allRuns } from "../../system/lookUp/lookUp.ts"
import { isOpenRun, isOver } from "../../views/ended.ts"
import type { BrokenActor } from "./brokenActors.ts"
import { purgeState } from "./pruneRun.ts"
import type { RunRecord } from "./RunRecord.ts"

const reason = "Its records could not be read; 'reprise repair' ended it."

/** How long the run's end is waited for. One that nobody hosts ends later. */
const endingMs = 10_000

/** A run that is told to end is open until its process has done so, and would be continued in place of a new one. */
const untilEnded = (runId: string) =>
  allRuns.pipe(
    Effect.repeat({
      until: (runs) => !runs.some((run) => run.runId === runId && isOpenRun(run)),
      schedule: Schedule.spaced("50 millis")
    }),
    Effect.timeoutOption(endingMs)
  )

/** What an abort would tell the others, and does when the run itself is fine. Ids are fixed, so a repeat is dropped. */
const cancel = Effect.fnUntraced(function* (
  { escalations, run, sessions, workspaces }: RunRecord,
  broken: ReadonlyArray<BrokenActor>
) {
  const messenger = yield* Messenger
  const works = (key: string) => !broken.some((actor) => actor.key === key)
  const id = (what: string) => ({ id: `repair-${run.runId}-${what}` })
  if (!broken.some(({ service }) => service === "orchestrator")) {
    if (!isOpenRun(run)) return
    yield* messenger.send(to.orchestrator(run.runId).AbortRun({ reason }), id("run"))
    return yield* untilEnded(run.runId)
  }
  for (const session of sessions) {
    const { sessionId } = session
    if (isOver(session) || !works(sessionId)) continue
    yield* messenger.send(to.sessionManager(sessionId).AbortSession({ reason }), id(sessionId))
  }
  for (const { escalationId, state } of escalations) {
    if (state !== "open" || !works(escalationId)) continue
    yield* messenger.send(to.gate(escalationId).WithdrawEscalation({ reason: "run-ended" }), id(escalationId))
  }
  if (workspaces.length > 0 && !broken.some(({ service }) => service === "workspace")) {
    yield* messenger.send(to.workspace(run.runId).ReleaseWorkspace({ outcome: "aborted" }), id("workspace"))
  }
  yield* messenger.publish("orchestrator", PublicEvent.cases.RunAborted.make({ runId: run.runId, reason }), id("event"))
})

/** The view of a broken actor as it is listed from now on; undefined: it is not listed any more. */
const endedView = ({ run, sessions }: RunRecord, { key, service }: BrokenActor, now: string): object | undefined => {
  if (service === "orchestrator")
    return { ...run, status: isOpenRun(run) ? "aborted" : run.status, reason, updatedAt: now }
  const session = sessions.find(({ sessionId }) => sessionId === key)
  return session === undefined ? undefined : { ...session, status: isOver(session) ? session.status : "aborted" }
}

const StoredLease = Schema.fromJsonString(
  Schema.StructWithRest(Schema.Struct({ runId: Schema.String }), [Schema.Record(Schema.String, Schema.Unknown)])
)
const decodeLease = Schema.decodeUnknownOption(StoredLease)

/** Frees the working tree that a broken workspace holds: it cannot be asked to. */
const freeLeases = Effect.fnUntraced(function* (runId: string) {
  const { views } = yield* Broker
  for (const { key, value } of yield* views.list("lease")) {
    const lease = Option.getOrUndefined(decodeLease(value))
    if (lease?.runId === runId) yield* views.put(key, JSON.stringify({ ...lease, free: true }))
  }
})

const Stored = Schema.fromJsonString(Schema.Struct({ sequence: Schema.Int }))
const decodeStored = Schema.decodeUnknownOption(Stored)

const removeBroken = Effect.fnUntraced(function* (record: RunRecord, actor: BrokenActor) {
  const { views } = yield* Broker
  const key = `${actor.service}.${actor.key}`
  const now = new Date(yield* Clock.currentTimeMillis).toISOString()
  const view = endedView(record, actor, now)
  const stored = yield* views.get(key)
  const sequence = Option.match(decodeStored(stored?.value), { onNone: () => 0, onSome: (of) => of.sequence })
  if (view !== undefined) yield* views.put(key, JSON.stringify({ sequence, view }))
  if (actor.service === "workspace") yield* freeLeases(record.run.runId)
  yield* purgeState(actor)
  if (view === undefined) yield* views.remove(key)
})

export const endBrokenRun = Effect.fn("endBrokenRun")(function* (
  record: RunRecord,
  broken: ReadonlyArray<BrokenActor>
) {
  yield* cancel(record, broken)
  yield* Effect.forEach(broken, (actor) => removeBroken(record, actor), { discard: true })
})

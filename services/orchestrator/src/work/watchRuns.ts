/**
 * The watch over runs: looks whether what a run has waited for longer than `limits.stuckAfterMs` is under way, and reports
 * to the run what is missing (docs/design/run-machine.md#the-run-machine-orchestrator). It only looks and reports; the run
 * decides. Any number of orchestrators may watch at once: what they report of one state of a run is one report.
 */
import { Messenger, type QueryFailed } from "@reprise/actor"
import { isStandalone, Key, type RunView, reviewKey, type SessionView } from "@reprise/protocol"
import { Clock, type Context, Effect, Ref } from "effect"
import type { RunReport } from "../run/inputs.ts"
import { missingTurn, missingWork, type Shown } from "../watch/missing.ts"

export interface WatchSettings {
  /** The longest time between two looks; runs with a short `stuckAfterMs` are looked at more often. */
  readonly lookEveryMs: number
}

export const defaultWatchSettings: WatchSettings = { lookEveryMs: 60_000 }

type Messages = Context.Service.Shape<typeof Messenger>

/** What the last look found missing, by run. */
type Suspects = ReadonlyMap<string, string>

/** Undefined where there is none. A service that does not answer fails the look: nothing is known then. */
const orNone = <View>(shown: Effect.Effect<View, QueryFailed>): Effect.Effect<View | undefined, QueryFailed> =>
  Effect.catchIf(
    shown,
    ({ code }) => code === "not-found",
    () => Effect.succeed(undefined)
  )

const look = Effect.fnUntraced(function* (
  { show }: Messages,
  { runId, waitsFor }: RunView
): Effect.fn.Return<Shown, QueryFailed> {
  switch (waitsFor?._tag) {
    case undefined:
      return {}
    case "Turn":
    case "Agent":
      return { session: yield* orNone(show.sessionManager(waitsFor.sessionId)) }
    case "Workspace":
      return { workspace: yield* orNone(show.workspace(runId)) }
    case "Review": {
      const review = yield* orNone(show.reviewer(reviewKey(runId, waitsFor.phase)))
      if (review?.status !== "reviewing" || review.sessionId === undefined) return { review }
      return { review, session: yield* orNone(show.sessionManager(review.sessionId)) }
    }
  }
})

/** Nothing is suspected any more: the next look begins anew. */
const notKnown =
  <Looked>(otherwise: Looked) =>
  ({ message }: { readonly message: string }) =>
    Effect.as(Effect.logInfo(`what runs wait for is not known: ${message}`), otherwise)

const stuckAfterMs = ({ limits }: RunView): number => limits?.stuckAfterMs ?? 0

const isOverdue = (run: RunView, nowMs: number): boolean =>
  stuckAfterMs(run) > 0 && nowMs - Date.parse(run.updatedAt) >= stuckAfterMs(run)

const tell = ({ send }: Messages, report: RunReport, lookedAt: string) => {
  const to = { service: "orchestrator" as const, key: Key.make(report.runId), command: report }
  return send(to, { id: `stuck.${report.runId}.${lookedAt}` })
}

/**
 * Reports only what two looks in a row found missing, unchanged: a message may be on its way for a moment, or a service
 * may just have begun to work through those that waited for it.
 */
const lookAt = Effect.fnUntraced(function* (messenger: Messages, before: Suspects, run: RunView) {
  const missing = missingWork(run.runId, run.waitsFor, yield* look(messenger, run))
  if (missing === undefined) return []
  const suspect = `${run.updatedAt} ${missing.missing}`
  if (before.get(run.runId) === suspect) {
    const { runId, updatedAt, waitsFor } = run
    const report = { _tag: "ReportStuck", runId, updatedAt, ...missing } as const
    yield* tell(messenger, waitsFor === undefined ? report : { ...report, waitsFor }, updatedAt)
  }
  return [[run.runId, suspect] as const]
})

/** A standalone session's run has no view. Its session is idle without a question, which it never is for long. */
const lookAtSession = Effect.fnUntraced(function* (messenger: Messages, before: Suspects, listed: SessionView) {
  if (!isStandalone(listed) || missingTurn(listed) === undefined) return []
  // A list may show what it was before.
  const session = yield* messenger.show.sessionManager(listed.sessionId)
  const missing = missingTurn(session)
  if (missing === undefined) return []
  const { lastActivityAt, runId } = session
  const suspect = `${lastActivityAt} ${missing.missing}`
  const lookedAt = new Date(yield* Clock.currentTimeMillis).toISOString()
  // Its run alone knows how long is too long, and whether it has begun to wait only now.
  if (before.get(runId) === suspect) yield* tell(messenger, { _tag: "ReportStuck", runId, ...missing }, lookedAt)
  return [[runId, suspect] as const]
})

/** In which a turn may have been lost. A session is created with its first turn, and is active or paused after it. */
const idleStatuses: ReadonlyArray<SessionView["status"]> = ["requested", "active", "paused"]

const lookAtSessions = Effect.fnUntraced(function* (messenger: Messages, before: Suspects) {
  const listed = yield* Effect.forEach(idleStatuses, (status) => messenger.list.sessionManager({ status }))
  const found = yield* Effect.forEach(listed.flat(), (session) =>
    Effect.catch(lookAtSession(messenger, before, session), notKnown([]))
  )
  return found.flat()
})

interface Looked {
  readonly suspects: Suspects
  /** How long to wait until the next look. */
  readonly nextMs: number
}

/** Often enough for every run; not without a pause, whatever its limit is. */
const nextLookMs = (runs: ReadonlyArray<RunView>, { lookEveryMs }: WatchSettings): number => {
  const limits = runs.map(stuckAfterMs).filter((ms) => ms > 0)
  return Math.min(lookEveryMs, ...limits.map((ms) => Math.max(1000, ms / 4)))
}

const lookAtAll = Effect.fnUntraced(function* (messenger: Messages, before: Suspects, settings: WatchSettings) {
  const runs = yield* messenger.list.orchestrator({ status: "running" })
  const now = yield* Clock.currentTimeMillis
  const found = yield* Effect.forEach(
    runs.filter((run) => isOverdue(run, now)),
    (run) => Effect.catch(lookAt(messenger, before, run), notKnown([]))
  )
  const sessions = yield* Effect.catch(lookAtSessions(messenger, before), notKnown([]))
  return { suspects: new Map([...found.flat(), ...sessions]), nextMs: nextLookMs(runs, settings) }
})

export const watchRuns = Effect.fnUntraced(function* (settings: WatchSettings) {
  const messenger = yield* Messenger
  const nothingSeen: Looked = { suspects: new Map(), nextMs: settings.lookEveryMs }
  const last = yield* Ref.make(nothingSeen)
  const lookAgain = Effect.gen(function* () {
    const { nextMs, suspects } = yield* Ref.get(last)
    yield* Effect.sleep(`${nextMs} millis`)
    const looked = lookAtAll(messenger, suspects, settings)
    yield* Ref.set(last, yield* Effect.catch(looked, notKnown(nothingSeen)))
  })
  yield* Effect.forkScoped(Effect.forever(lookAgain))
})

/** `reprise prune`: finished runs and standalone sessions are archived, and then forgotten. */
import { BrokerFault } from "@reprise/actor"
import { RunView, SessionView } from "@reprise/protocol"
import { Clock, Effect, type Option } from "effect"
import { findProject } from "../../project/Project.ts"
import { listOf, withReading } from "../../system/clientSystem.ts"
import { awaitsArchive } from "../../system/findSession.ts"
import { missing, wrongUse } from "../../terminal/CliFailure.ts"
import { okJson, say, visible } from "../../terminal/Printer.ts"
import { readLine } from "../../terminal/readLine.ts"
import { pruneRun } from "./pruneRun.ts"
import { prunableSessions, pruneSession } from "./pruneSession.ts"
import { type RunRecord, recordsOf } from "./RunRecord.ts"

interface Flags {
  readonly days: number
  readonly yes: boolean
  readonly json: boolean
  readonly nats: Option.Option<string>
}

const dayMs = 24 * 60 * 60 * 1000
const finished = new Set<RunView["status"]>(["completed", "failed", "aborted"])

/** Those that have ended, and of which nothing was heard for so many days. */
export const prunable = (runs: ReadonlyArray<RunView>, days: number, nowMs: number): ReadonlyArray<RunView> =>
  runs.filter(({ status, updatedAt }) => finished.has(status) && nowMs - Date.parse(updatedAt) >= days * dayMs)

/**
 * Its workspace was given back, or it never got one, and its conversations are archived. A host that was not there since
 * the end still has to do so.
 */
export const isAtRest = ({ sessions, workspaces }: RunRecord): boolean =>
  !sessions.some(awaitsArchive) &&
  workspaces.every(
    ({ directory, requests, status }) => status === "released" || (directory === undefined && requests.length === 0)
  )

const lines = (runs: ReadonlyArray<RunView>, sessions: ReadonlyArray<SessionView>) => [
  ...runs.map(
    ({ planPath, runId, status, updatedAt }) => `  ${runId}  ${status}  ${updatedAt.slice(0, 10)}  ${planPath}`
  ),
  ...sessions.map(
    ({ lastActivityAt, prompt = "", sessionId, status }) =>
      `  ${sessionId}  ${status}  ${lastActivityAt.slice(0, 10)}  ${(prompt.split("\n")[0] ?? "").slice(0, 60)}`
  )
]

const confirm = Effect.fnUntraced(function* (
  flags: Flags,
  runs: ReadonlyArray<RunView>,
  sessions: ReadonlyArray<SessionView>
) {
  if (flags.yes) return true
  if (process.stdin.isTTY !== true || process.stderr.isTTY !== true || flags.json) {
    return yield* wrongUse(
      "not-confirmed",
      `${runs.length + sessions.length} finished runs and sessions would be archived and forgotten:\n${visible(lines(runs, sessions).join("\n"))}`,
      "Say so with --yes."
    )
  }
  say(`These are archived to .reprise/archive and then forgotten:\n${visible(lines(runs, sessions).join("\n"))}`)
  const line = yield* readLine("go on? [y/N] ")
  return line._tag === "Line" && /^y(es)?$/i.test(line.text.trim())
})

const report = (
  flags: Flags,
  pruned: ReadonlyArray<{ readonly runId: string; readonly archive: string }>,
  kept: number,
  sessions: ReadonlyArray<{ readonly sessionId: string; readonly archive: string }> = []
) => {
  if (flags.json) return okJson({ pruned, kept, ...(sessions.length === 0 ? {} : { sessions }) })
  for (const { archive, runId } of pruned) say(`${runId} is in ${archive}`)
  for (const { archive, sessionId } of sessions) say(`${sessionId} is in ${archive}`)
  say(`${pruned.length} runs forgotten, ${kept} kept`)
}

const retold = <A, E, R>(pruning: Effect.Effect<A, E | BrokerFault, R>) =>
  pruning.pipe(
    Effect.catchIf(
      (error) => error instanceof BrokerFault,
      (fault) => missing("broker", fault.message, "Run 'reprise prune' again: what is archived already is kept.", fault)
    )
  )

export const prune = (flags: Flags) =>
  withReading(
    flags,
    Effect.gen(function* () {
      if (flags.days < 0) return yield* wrongUse("bad-days", "--days is a number from 0.", "Such as --days 14.")
      const project = yield* findProject(process.cwd())
      const all = yield* listOf("orchestrator", RunView)
      const now = yield* Clock.currentTimeMillis
      const old = yield* recordsOf(prunable(all, flags.days, now))
      const records = old.filter(isAtRest)
      const runs = records.map(({ run }) => run)
      const alone = prunableSessions(yield* listOf("session-manager", SessionView), flags.days, now)
      if (runs.length + alone.length === 0 || !(yield* confirm(flags, runs, alone))) {
        return report(flags, [], all.length)
      }
      const pruned = yield* Effect.forEach(records, (record) =>
        retold(pruneRun(project, record)).pipe(
          Effect.map((archive) => ({ runId: record.run.runId, planPath: record.run.planPath, archive }))
        )
      )
      const sessions = yield* Effect.forEach(alone, (session) =>
        retold(pruneSession(project, session)).pipe(
          Effect.map((archive) => ({ sessionId: session.sessionId, archive }))
        )
      )
      report(flags, pruned, all.length - pruned.length, sessions)
    })
  )

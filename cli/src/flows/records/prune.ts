/** `reprise prune`: archives finished runs and standalone sessions, then removes them from the broker. */
import { BrokerFault } from "@reprise/actor"
import type { SessionView } from "@reprise/protocol"
import { Clock, Effect } from "effect"
import { findProject } from "../../project/findProject.ts"
import { type ClientFlags, withOperator } from "../../system/clientSystem.ts"
import { allRuns, allSessions } from "../../system/lookUp/lookUp.ts"
import { missing, wrongUse } from "../../terminal/CliFailure.ts"
import { okJson, say } from "../../terminal/Printer.ts"
import { isInteractive, readYes } from "../../terminal/readLine.ts"
import { visible } from "../../terminal/visible.ts"
import { prunableRuns, prunableSessions, pruneRun, pruneSession } from "./pruneRun.ts"
import { isAtRest, type RunRecord, recordsOf } from "./RunRecord.ts"

interface Flags extends ClientFlags {
  readonly days: number
  readonly yes: boolean
}

interface Candidates {
  readonly records: ReadonlyArray<RunRecord>
  readonly sessions: ReadonlyArray<SessionView>
}

const candidateLines = ({ records, sessions }: Candidates): string => {
  const lines = [
    ...records.map(
      ({ run: { planPath, runId, status, updatedAt } }) =>
        `  ${runId}  ${status}  ${updatedAt.slice(0, 10)}  ${planPath}`
    ),
    ...sessions.map(
      ({ lastActivityAt, prompt = "", sessionId, status }) =>
        `  ${sessionId}  ${status}  ${lastActivityAt.slice(0, 10)}  ${(prompt.split("\n")[0] ?? "").slice(0, 60)}`
    )
  ]
  return visible(lines.join("\n"))
}

const confirm = Effect.fnUntraced(function* (flags: Flags, candidates: Candidates) {
  if (flags.yes) return true
  if (!isInteractive(flags)) {
    return yield* wrongUse(
      "not-confirmed",
      `${candidates.records.length + candidates.sessions.length} finished runs and sessions would be archived and removed:\n${candidateLines(candidates)}`,
      "Use --yes to confirm."
    )
  }
  say(`These will be archived to .reprise/archive and then removed:\n${candidateLines(candidates)}`)
  return yield* readYes("Continue? [y/N] ")
})

interface Report {
  readonly pruned: ReadonlyArray<{ readonly runId: string; readonly planPath: string; readonly archive: string }>
  readonly sessions: ReadonlyArray<{ readonly sessionId: string; readonly archive: string }>
  readonly kept: number
}

const print = ({ kept, pruned, sessions }: Report, json: boolean): void => {
  if (json) {
    okJson({ pruned, kept, ...(sessions.length === 0 ? {} : { sessions }) })
    return
  }
  for (const { archive, runId } of pruned) say(`${runId} is in ${archive}`)
  for (const { archive, sessionId } of sessions) say(`${sessionId} is in ${archive}`)
  say(`${pruned.length} run${pruned.length === 1 ? "" : "s"} removed, ${kept} kept`)
}

const orCliFailure = <A, E, R>(pruning: Effect.Effect<A, E | BrokerFault, R>) =>
  pruning.pipe(
    Effect.catchIf(
      (error) => error instanceof BrokerFault,
      (fault) =>
        missing(
          "broker",
          `${fault.message} Not everything was removed.`,
          "Run 'reprise prune' again: existing archives are kept.",
          fault
        )
    )
  )

export const prune = (flags: Flags) =>
  withOperator(
    flags,
    Effect.gen(function* () {
      if (flags.days < 0) {
        return yield* wrongUse("bad-days", "--days must be 0 or more.", "For example: --days 14")
      }
      const project = yield* findProject(process.cwd())
      const all = yield* allRuns
      const now = yield* Clock.currentTimeMillis
      const candidates: Candidates = {
        records: (yield* recordsOf(prunableRuns(all, flags.days, now))).filter(isAtRest),
        sessions: prunableSessions(yield* allSessions, flags.days, now)
      }
      const { records } = candidates
      if (records.length + candidates.sessions.length === 0 || !(yield* confirm(flags, candidates))) {
        return print({ pruned: [], sessions: [], kept: all.length }, flags.json)
      }
      const pruned = yield* Effect.forEach(records, (record) =>
        orCliFailure(pruneRun(project, record)).pipe(
          Effect.map((archive) => ({ runId: record.run.runId, planPath: record.run.planPath, archive }))
        )
      )
      const sessions = yield* Effect.forEach(candidates.sessions, (session) =>
        orCliFailure(pruneSession(project, session)).pipe(
          Effect.map((archive) => ({ sessionId: session.sessionId, archive }))
        )
      )
      print({ pruned, sessions, kept: all.length - pruned.length }, flags.json)
    })
  )

/** `reprise prune`: finished runs are archived, and then forgotten. */
import { RunView } from "@reprise/protocol"
import { Clock, Effect, type Option } from "effect"
import { missing, wrongUse } from "../CliFailure.ts"
import { readLine } from "../gate/readLine.ts"
import { okJson, say, visible } from "../Printer.ts"
import { findProject } from "../project/Project.ts"
import { listOf, withReading } from "../system/reading.ts"
import { pruneRun } from "./pruneRun.ts"
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

/** Its workspace was given back, or it never got one. A host that was not there since the end still has to do so. */
export const isAtRest = ({ workspaces }: RunRecord): boolean =>
  workspaces.every(
    ({ directory, requests, status }) => status === "released" || (directory === undefined && requests.length === 0)
  )

const lines = (runs: ReadonlyArray<RunView>) =>
  runs.map(({ planPath, runId, status, updatedAt }) => `  ${runId}  ${status}  ${updatedAt.slice(0, 10)}  ${planPath}`)

const confirm = Effect.fnUntraced(function* (flags: Flags, runs: ReadonlyArray<RunView>) {
  if (flags.yes) return true
  if (process.stdin.isTTY !== true || process.stderr.isTTY !== true || flags.json) {
    return yield* wrongUse(
      "not-confirmed",
      `${runs.length} finished runs would be archived and forgotten:\n${visible(lines(runs).join("\n"))}`,
      "Say so with --yes."
    )
  }
  say(`These runs are archived to .reprise/archive and then forgotten:\n${visible(lines(runs).join("\n"))}`)
  const line = yield* readLine("go on? [y/N] ")
  return line._tag === "Line" && /^y(es)?$/i.test(line.text.trim())
})

const report = (
  flags: Flags,
  pruned: ReadonlyArray<{ readonly runId: string; readonly archive: string }>,
  kept: number
) => {
  if (flags.json) return okJson({ pruned, kept })
  for (const { archive, runId } of pruned) say(`${runId} is in ${archive}`)
  say(`${pruned.length} runs forgotten, ${kept} kept`)
}

export const prune = (flags: Flags) =>
  withReading(
    flags,
    Effect.gen(function* () {
      if (flags.days < 0) return yield* wrongUse("bad-days", "--days is a number from 0.", "Such as --days 14.")
      const project = yield* findProject(process.cwd())
      const all = yield* listOf("orchestrator", RunView)
      const old = yield* recordsOf(prunable(all, flags.days, yield* Clock.currentTimeMillis))
      const records = old.filter(isAtRest)
      const runs = records.map(({ run }) => run)
      if (runs.length === 0 || !(yield* confirm(flags, runs))) return report(flags, [], all.length)
      const pruned = yield* Effect.forEach(records, (record) =>
        pruneRun(project, record).pipe(
          Effect.map((archive) => ({ runId: record.run.runId, planPath: record.run.planPath, archive })),
          Effect.catchTag("BrokerFault", (fault) =>
            missing("broker", fault.message, "Run 'reprise prune' again: what is archived already is kept.", fault)
          )
        )
      )
      report(flags, pruned, all.length - pruned.length)
    })
  )

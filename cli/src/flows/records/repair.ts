/** `reprise repair RUN`: ends a run whose records cannot be read, and says what is lost. */
import { contracts } from "@reprise/protocol"
import { Effect } from "effect"
import { findProject } from "../../project/findProject.ts"
import { archivePath } from "../../project/Project.ts"
import { type ClientFlags, withOperator } from "../../system/clientSystem.ts"
import { allRuns, unknownRun } from "../../system/lookUp/lookUp.ts"
import { wrongUse } from "../../terminal/CliFailure.ts"
import { okJson, say } from "../../terminal/Printer.ts"
import { isInteractive, readYes } from "../../terminal/readLine.ts"
import { visible } from "../../terminal/visible.ts"
import { archiveRecord } from "./archive.ts"
import { type BrokenActor, brokenActors } from "./brokenActors.ts"
import { endBrokenRun } from "./endBrokenRun.ts"
import { recordsOf } from "./RunRecord.ts"

interface Flags extends ClientFlags {
  readonly run: string
  readonly yes: boolean
}

const lossOf = ({ journal, key, service }: BrokenActor): string =>
  `  ${contracts[service].actor} ${key}: its journal of ${journal.length} ${journal.length === 1 ? "entry" : "entries"}`

const lossText = (run: string, broken: ReadonlyArray<BrokenActor>): string =>
  visible(
    [
      `Of run ${run} this cannot be read:`,
      ...broken.map(lossOf),
      "The run ends as aborted, and cannot be continued. What is lost: its state, and answers that were stored nowhere else.",
      `What is kept: its commits, its working tree, its logs, and all that is stored of it in ${archivePath(run)}.`
    ].join("\n")
  )

const confirm = Effect.fnUntraced(function* (flags: Flags, loss: string) {
  if (flags.yes) return true
  if (!isInteractive(flags)) return yield* wrongUse("not-confirmed", loss, "Use --yes to confirm.")
  say(loss)
  return yield* readYes("End it? [y/N] ")
})

export const repair = (flags: Flags) =>
  withOperator(
    flags,
    Effect.gen(function* () {
      const project = yield* findProject(process.cwd())
      const [record] = yield* recordsOf((yield* allRuns).filter(({ runId }) => runId === flags.run))
      if (record === undefined) return yield* unknownRun(flags.run)
      const { runId } = record.run
      const broken = yield* brokenActors(record)
      const named = broken.map(({ journal, key, service }) => ({ service, key, entries: journal.length }))
      if (broken.length === 0) {
        if (flags.json) return okJson({ runId, lost: [] })
        return say(`All that is stored of run ${runId} can be read: there is nothing to repair.`)
      }
      if (!(yield* confirm(flags, lossText(runId, broken)))) return
      const archive = yield* archiveRecord(project, runId, { ...record, unreadable: broken })
      yield* endBrokenRun(record, broken)
      if (flags.json) return okJson({ runId, lost: named, archive })
      say(`Run ${runId} is ended. What was stored of it is in ${archive}; 'reprise prune' removes the rest later.`)
    })
  )

/** `reprise status [RUN]` */
import { RunView } from "@reprise/protocol"
import { Effect, Option } from "effect"
import { listOf, withReading } from "../../system/clientSystem.ts"
import { wrongUse } from "../../terminal/CliFailure.ts"
import { data, okJson, say } from "../../terminal/Printer.ts"
import { limitsLine } from "../../views/limitsLine.ts"
import { runSummary, runsTable } from "../../views/runText.ts"
import { tasksBegun, tasksTable } from "../../views/taskTable.ts"
import { readSummary } from "./readSummary.ts"

interface Flags {
  readonly run: Option.Option<string>
  readonly json: boolean
  readonly nats: Option.Option<string>
}

export const status = (flags: Flags) =>
  withReading(
    flags,
    Effect.gen(function* () {
      const runs = yield* listOf("orchestrator", RunView)
      if (Option.isNone(flags.run)) {
        if (flags.json) return okJson(runs)
        if (runs.length === 0) return say("No runs yet: 'reprise run PLAN.md' starts one.")
        return data(runsTable(runs, Date.now()))
      }
      const wanted = flags.run.value
      const run = runs.find(({ runId }) => runId === wanted)
      if (run === undefined) {
        return yield* wrongUse(
          "unknown-run",
          `There is no run ${wanted}.`,
          "'reprise status' lists the runs of this repository."
        )
      }
      // A server of others may keep the journal from whoever only looks.
      const summary = Option.getOrUndefined(yield* Effect.option(readSummary(wanted)))
      const tasks = tasksBegun(summary)
      if (flags.json) return okJson({ ...run, tasks })
      const parts = [
        runSummary(run, [["workspace", run.directory ?? run.workspace]]),
        ...(tasks.length === 0 ? [] : [tasksTable(tasks)]),
        limitsLine(run)
      ]
      data(parts.join("\n"))
    })
  )

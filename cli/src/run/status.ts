/** `reprise status [RUN]` */
import { RunView } from "@reprise/protocol"
import { Effect, Option } from "effect"
import { wrongUse } from "../CliFailure.ts"
import { data, okJson } from "../Printer.ts"
import { limitsLine } from "../show/limitsLine.ts"
import { runSummary, runsTable } from "../show/runTable.ts"
import { listOf, withReading } from "../system/reading.ts"

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
        return data(runs.length === 0 ? "No runs yet: 'reprise run PLAN.md' starts one." : runsTable(runs, Date.now()))
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
      if (flags.json) return okJson(run)
      data(`${runSummary(run, [["workspace", run.directory ?? run.workspace]])}\n${limitsLine(run)}`)
    })
  )

/** `reprise summary RUN`: the run's SUMMARY.md as its journal has it now. */
import { renderSummary } from "@reprise/plan"
import { Effect, type Option } from "effect"
import { withReading } from "../../system/clientSystem.ts"
import { wrongUse } from "../../terminal/CliFailure.ts"
import { data, okJson, visible } from "../../terminal/Printer.ts"
import { archivePath } from "../prune/archiveRun.ts"
import { readSummary } from "./readSummary.ts"

interface Flags {
  readonly run: string
  readonly json: boolean
  readonly nats: Option.Option<string>
}

export const summary = (flags: Flags) =>
  withReading(
    flags,
    Effect.gen(function* () {
      const found = yield* readSummary(flags.run)
      if (found === undefined) {
        return yield* wrongUse(
          "unknown-run",
          `There is no run ${flags.run}.`,
          `'reprise status' lists the runs of this repository; one that was pruned is in ${archivePath("RUN")}.`
        )
      }
      if (flags.json) okJson(found)
      else data(visible(renderSummary(found)).trimEnd())
    })
  )

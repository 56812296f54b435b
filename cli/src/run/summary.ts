/** `reprise summary RUN`: the run's SUMMARY.md as its journal has it now. */
import { ActorConfig, Broker } from "@reprise/actor"
import { journalSummary } from "@reprise/orchestrator/journalSummary"
import { renderSummary } from "@reprise/plan"
import { actorOf, isKey, subjects } from "@reprise/protocol"
import { Effect, type Option, Schema } from "effect"
import { missing, wrongUse } from "../CliFailure.ts"
import { data, okJson, visible } from "../Printer.ts"
import { archivePath } from "../prune/archiveRun.ts"
import { withReading } from "../system/reading.ts"

interface Flags {
  readonly run: string
  readonly json: boolean
  readonly nats: Option.Option<string>
}

const Entry = Schema.fromJsonString(Schema.Struct({ events: Schema.Unknown }))
const decodeEntry = Schema.decodeUnknownEffect(Entry)

const unreadable = (run: string) => (cause: unknown) =>
  missing(
    "bad-journal",
    `The journal of run ${run} cannot be read by this version.`,
    "Use the version of Reprise that ran it, or look at its SUMMARY.md in .planning/.",
    cause
  )

const readSummary = Effect.fnUntraced(function* (run: string) {
  if (!isKey(run)) return undefined
  const broker = yield* Broker
  const { prefix } = yield* ActorConfig
  const stored = yield* broker.read("journal", subjects(prefix).journal(actorOf.orchestrator, run), 0)
  const entries = yield* Effect.forEach(stored, ({ body }) => Effect.flatMap(body, decodeEntry)).pipe(
    Effect.mapError(unreadable(run))
  )
  return yield* Effect.fromResult(journalSummary(entries.map(({ events }) => events))).pipe(
    Effect.mapError(unreadable(run))
  )
})

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

/** The summary of a run as its journal has it now. */
import { ActorConfig, Broker } from "@reprise/actor"
import { journalSummary } from "@reprise/orchestrator/journalSummary"
import { contracts, isKey, subjects } from "@reprise/protocol"
import { Effect, Schema } from "effect"
import { missing } from "../CliFailure.ts"

const Entry = Schema.fromJsonString(Schema.Struct({ events: Schema.Unknown }))
const decodeEntry = Schema.decodeUnknownEffect(Entry)

const unreadable = (run: string) => (cause: unknown) =>
  missing(
    "bad-journal",
    `The journal of run ${run} cannot be read by this version.`,
    "Use the version of Reprise that ran it, or look at its SUMMARY.md in .planning/.",
    cause
  )

/** Undefined where there is no such run. */
export const readSummary = Effect.fnUntraced(function* (run: string) {
  if (!isKey(run)) return undefined
  const broker = yield* Broker
  const { prefix } = yield* ActorConfig
  const stored = yield* broker.read("journal", subjects(prefix).journal(contracts.orchestrator.actor, run), 0)
  const entries = yield* Effect.forEach(stored, ({ body }) => Effect.flatMap(body, decodeEntry)).pipe(
    Effect.mapError(unreadable(run))
  )
  return yield* Effect.fromResult(journalSummary(entries.map(({ events }) => events))).pipe(
    Effect.mapError(unreadable(run))
  )
})

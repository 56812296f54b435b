/** `reprise status [RUN]` and `reprise summary [RUN]` */
import { ActorConfig, Broker } from "@reprise/actor"
import { journalSummary } from "@reprise/orchestrator/summary"
import { renderSummary } from "@reprise/plan"
import { contracts, isKey, subjects } from "@reprise/protocol"
import { Effect, Option, Schema } from "effect"
import { archivePath } from "../../project/Project.ts"
import { type ClientFlags, withClient, withLists } from "../../system/clientSystem.ts"
import { allRuns, allSessions, findRun, runLines } from "../../system/lookUp/lookUp.ts"
import { runToRead } from "../../system/lookUp/meantRun.ts"
import { missing, wrongUse } from "../../terminal/CliFailure.ts"
import { data, isForPeople, okJson, say } from "../../terminal/Printer.ts"
import { visible } from "../../terminal/visible.ts"
import { areFull, awaitsHost } from "../../views/hostsText.ts"
import { markdownText } from "../../views/markdownText.ts"
import {
  type ListedRun,
  limitsLine,
  nextStep,
  placeOf,
  runSummary,
  runsTable,
  tasksBegun,
  tasksTable,
  withPostponed
} from "../../views/runText.ts"
import { knownHosts } from "./hosts.ts"

const Entry = Schema.fromJsonString(Schema.Struct({ events: Schema.Unknown }))
const decodeEntry = Schema.decodeUnknownEffect(Entry)

const unreadable = (run: string) => (cause: unknown) =>
  missing(
    "bad-journal",
    `This version of Reprise cannot read the journal of run ${run}.`,
    "Use the version that ran it, or read its SUMMARY.md in .planning/.",
    cause
  )

/** The summary of a run as its journal has it now; undefined if there is no such run. */
const readSummary = Effect.fnUntraced(function* (run: string) {
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

/** With what they, or their sessions, wait for. Without an answer of the services the runs are shown as they are. */
const seen = Effect.fnUntraced(function* <Run extends ListedRun>(runs: ReadonlyArray<Run>) {
  const isRunning = runs.some(({ status }) => status === "running")
  const sessions = isRunning ? yield* Effect.orElseSucceed(allSessions, () => []) : []
  const hosts = runs.some(awaitsHost) ? yield* Effect.orElseSucceed(knownHosts, () => []) : []
  const full = areFull(hosts)
  return withPostponed(runs, sessions).map((run) =>
    full && awaitsHost(run) ? { ...run, awaitsSlot: true as const } : run
  )
})

const printRuns = Effect.fnUntraced(function* (json: boolean) {
  if (json) return okJson(yield* Effect.flatMap(allRuns, seen))
  const runs = yield* Effect.flatMap(runLines, seen)
  if (runs.length === 0) return say("No runs yet: 'reprise run PLAN.md' starts one.")
  data(runsTable(runs, Date.now()))
})

const printRun = Effect.fnUntraced(function* (name: string, json: boolean) {
  const id = yield* runToRead(Option.some(name))
  const found = yield* findRun(id)
  const [run = found] = yield* seen([found])
  // A server that others run may not let a client read the journal.
  const summary = Option.getOrUndefined(yield* Effect.option(readSummary(id)))
  const tasks = tasksBegun(summary)
  if (json) return okJson({ ...run, tasks })
  const parts = [
    runSummary(run, [["workspace", placeOf(run)]]),
    ...(tasks.length === 0 ? [] : [tasksTable(tasks)]),
    limitsLine(run),
    nextStep(run)
  ]
  data(parts.join("\n"))
})

export const status = (flags: ClientFlags & { readonly run: Option.Option<string> }) =>
  Option.isNone(flags.run)
    ? withLists(flags, printRuns(flags.json))
    : withClient(flags, printRun(flags.run.value, flags.json))

export const summary = (flags: ClientFlags & { readonly run: Option.Option<string> }) =>
  withClient(
    flags,
    Effect.gen(function* () {
      const run = yield* runToRead(flags.run)
      const found = yield* readSummary(run)
      if (found === undefined) {
        return yield* wrongUse(
          "unknown-run",
          `There is no run '${run.slice(0, 80)}'.`,
          `'reprise status' lists the runs of this repository; a pruned run is in ${archivePath("RUN")}.`
        )
      }
      const markdown = visible(renderSummary(found)).trimEnd()
      if (flags.json) okJson(found)
      else data(isForPeople() ? markdownText(markdown) : markdown)
    })
  )

/** The run that a user means by an id, by 'latest', or without naming one. */
import type { Messenger } from "@reprise/actor"
import type { RunView } from "@reprise/protocol"
import { Effect, Option } from "effect"
import { type CliFailure, wrongUse } from "../../terminal/CliFailure.ts"
import { isOpenRun } from "../../views/ended.ts"
import { allRuns } from "./lookUp.ts"

/** The name of the run that was started last. */
export const latestName = "latest"

type Candidate = Pick<RunView, "runId" | "status" | "startedAt">

const noRuns = wrongUse("unknown-run", "There are no runs here yet.", "'reprise run PLAN.md' starts one.")

/**
 * Without a name: the only open run. If none is open, the latest, which can still be looked at; a command that `changes`
 * a run needs an open one. Several open runs are never chosen from.
 */
export const chooseRun = (
  runs: ReadonlyArray<Candidate>,
  name: string | undefined,
  changes: boolean
): string | CliFailure => {
  if (name !== undefined && name !== latestName) return name
  const newestFirst = runs.toSorted((a, b) => b.startedAt.localeCompare(a.startedAt))
  const [latest] = newestFirst
  if (latest === undefined) return noRuns
  if (name === latestName) return latest.runId
  const open = newestFirst.filter(isOpenRun)
  if (open.length > 1) {
    const ids = open.map(({ runId }) => runId).join(", ")
    return wrongUse("several-runs", `${open.length} runs are open: ${ids}.`, `Name one of them, or '${latestName}'.`)
  }
  const [only] = open
  if (only !== undefined) return only.runId
  return changes
    ? wrongUse("no-open-run", "No run is open.", "'reprise status' lists the runs of this repository.")
    : latest.runId
}

const meant = Effect.fnUntraced(function* (name: Option.Option<string>, changes: boolean) {
  const given = Option.getOrUndefined(name)
  if (given !== undefined && given !== latestName) return given
  const chosen = chooseRun(yield* allRuns, given, changes)
  return typeof chosen === "string" ? chosen : yield* chosen
})

type MeantRun = Effect.Effect<string, CliFailure, Messenger>

/** The id of the run to look at. An id that was typed is not checked. */
export const runToRead = (name: Option.Option<string>): MeantRun => meant(name, false)

/** The id of the run to change. An id that was typed is not checked. */
export const runToChange = (name: Option.Option<string>): MeantRun => meant(name, true)

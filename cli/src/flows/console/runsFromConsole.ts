/** Runs that are started in the web console: what a run would do, and its start. */
import { join } from "node:path"
import { Messenger } from "@reprise/actor"
import { type ConsoleRunRequest, type ConsoleStart, RunId as Run, type RunId } from "@reprise/protocol"
import { Effect } from "effect"
import type { SomeSettings } from "../../config/settingsTable.ts"
import { allRuns } from "../../system/lookUp/lookUp.ts"
import { newRunId } from "../../system/names.ts"
import type { SystemOptions } from "../../system/SystemOptions.ts"
import { wrongUse } from "../../terminal/CliFailure.ts"
import { isOpenRun } from "../../views/ended.ts"
import { planText } from "../../views/planText.ts"
import { descriptionOf } from "../run/describeRun.ts"
import { requireCleanTree } from "../run/preflight.ts"
import { isRunOf, type PreparedRun, prepareRun, startRun } from "../run/prepareRun.ts"
import { requireStartable } from "../run/requireStartable.ts"

/** The settings of the process that serves the console count as those of a command line. */
const settingsOf = ({ settings }: SystemOptions, { worktree }: ConsoleRunRequest): SomeSettings => ({
  nats: { url: settings.nats.url },
  workspace: { worktree: worktree ? true : undefined }
})

const prepare = (options: SystemOptions, wanted: ConsoleRunRequest) =>
  prepareRun(options.project, join(options.project.root, wanted.plan), settingsOf(options, wanted), wanted)

const requireNoOpenRun = Effect.fnUntraced(function* (prepared: PreparedRun) {
  const open = (yield* allRuns).find((run) => isOpenRun(run) && isRunOf(prepared, run))
  if (open === undefined) return
  return yield* wrongUse(
    "already-open",
    `${prepared.plan.path} already has an open run, ${open.runId}.`,
    "Open that run to answer its question, resume it or abort it."
  )
})

const check = Effect.fnUntraced(function* (prepared: PreparedRun) {
  yield* requireNoOpenRun(prepared)
  const warnings = yield* requireStartable(prepared, { plan: prepared.plan.path, terminal: false })
  yield* requireCleanTree(prepared)
  return warnings
})

/** The id in the description of a run that does not exist. */
const noRun = Run.make("dry-run")

export const dryRun = Effect.fn("dryRun")(function* (options: SystemOptions, wanted: ConsoleRunRequest) {
  const prepared = yield* prepare(options, wanted)
  const warnings = yield* check(prepared)
  return { text: planText(descriptionOf(prepared, noRun)), warnings }
})

/** Starts one run for each command id. A browser sends again what was not confirmed. */
export const makeStart = (options: SystemOptions) => {
  const started = new Map<string, RunId>()
  return Effect.fn("startRun")(function* ({ commandId, ...wanted }: ConsoleStart) {
    const prepared = yield* prepare(options, wanted)
    const known = started.get(commandId)
    if (known === undefined) yield* check(prepared)
    const runId = known ?? newRunId()
    started.set(commandId, runId)
    const { ask } = yield* Messenger
    return yield* ask(startRun(prepared, runId), { id: `start-${runId}`, timeout: "10 seconds" }).pipe(
      Effect.as({ runId, state: "done" } as const),
      Effect.catchTag("NoAnswer", () => Effect.succeed({ runId, state: "pending" } as const))
    )
  })
}

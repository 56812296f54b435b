/** Runs that are started in the web console: the plans of the repository, what a run would do, and its start. */
import { stat } from "node:fs/promises"
import { join } from "node:path"
import { Messenger } from "@reprise/actor"
import { maxPlanLength, parsePlan } from "@reprise/plan"
import { readForeignText } from "@reprise/process"
import {
  type ConsolePlan,
  type ConsoleRunRequest,
  type ConsoleStart,
  RunId as Run,
  type RunId
} from "@reprise/protocol"
import { Effect, Result } from "effect"
import type { SomeSettings } from "../../config/settingsTable.ts"
import type { Project } from "../../project/Project.ts"
import { ownMarkdown } from "../../project/trackedFiles.ts"
import { allRuns } from "../../system/lookUp.ts"
import { newRunId } from "../../system/names.ts"
import type { SystemOptions } from "../../system/SystemOptions.ts"
import { wrongUse } from "../../terminal/CliFailure.ts"
import { isOpenRun } from "../../views/ended.ts"
import { planText } from "../../views/planText.ts"
import { descriptionOf } from "../run/describeRun.ts"
import { requireCleanTree } from "../run/preflight.ts"
import { isRunOf, type PreparedRun, prepareRun, startRun } from "../run/prepareRun.ts"
import { requireStartable } from "../run/requireStartable.ts"

/** Of more files only the newest are read. */
const mostFiles = 500

/** A heading of a phase, as in a plan with a mistake: it is listed with what is wrong. */
const meansToBePlan = (text: string): boolean => /^#{1,6}\s+phase\b/im.test(text)

const planOf = (path: string, text: string): ConsolePlan | undefined => {
  const parsed = parsePlan(text)
  if (Result.isSuccess(parsed)) {
    const { phases, title } = parsed.success
    return {
      path,
      ...(title === undefined ? {} : { title }),
      phases: phases.map(({ done, id, title }) => ({ id, title, done }))
    }
  }
  if (!meansToBePlan(text)) return undefined
  const [{ line, message } = { line: 1, message: "It is not a plan." }] = parsed.failure
  return { path, phases: [], problem: `Line ${line}: ${message}` }
}

/** Undefined: it is no plan, or cannot be read. */
const readPlan = ({ root }: Project, path: string) =>
  Effect.tryPromise(() => readForeignText(join(root, path), { largestBytes: 3 * maxPlanLength, follow: false })).pipe(
    Effect.map((text) => (text === undefined ? undefined : planOf(path, text))),
    Effect.orElseSucceed(() => undefined)
  )

const changedAt = ({ root }: Project, path: string) =>
  Effect.tryPromise(() => stat(join(root, path))).pipe(
    Effect.map(({ mtimeMs }) => mtimeMs),
    Effect.orElseSucceed(() => 0)
  )

/** The plans among the markdown files, what was changed last first. */
export const plansOf = Effect.fn("plansOf")(function* (project: Project) {
  const paths = yield* ownMarkdown(project.root)
  const dated = yield* Effect.forEach(
    paths,
    (path) => Effect.map(changedAt(project, path), (changed) => ({ path, changed })),
    { concurrency: 16 }
  )
  const newest = dated.toSorted((a, b) => b.changed - a.changed).slice(0, mostFiles)
  const plans = yield* Effect.forEach(newest, ({ path }) => readPlan(project, path), { concurrency: 8 })
  return plans.filter((plan) => plan !== undefined)
})

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
    `${prepared.plan.path} has an open run, ${open.runId}.`,
    "It goes on by itself. Answer its question, resume it, or abort it first."
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

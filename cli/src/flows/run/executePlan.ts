/** Starts a run or goes on with the open one, follows it, and shows what it came to. */

import { randomUUID } from "node:crypto"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { Messenger } from "@reprise/actor"
import { makeRunId, type RunId, type RunOptions, RunView } from "@reprise/protocol"
import { Effect, Ref } from "effect"
import type { Config } from "../../config/Config.ts"
import { isInitialised, type Project } from "../../project/Project.ts"
import { BrokerLost, duringTenure } from "../../system/broker.ts"
import { listOf } from "../../system/clientSystem.ts"
import { hostingSystem } from "../../system/System.ts"
import { showRun } from "../../system/showRun.ts"
import { type ExitCode, exitCodes, missing } from "../../terminal/CliFailure.ts"
import { data, say } from "../../terminal/Printer.ts"
import { runSummary } from "../../views/runText.ts"
import type { Human } from "../gate/attend.ts"
import { follow } from "./followRun.ts"
import { requireCleanTree } from "./preflight.ts"

export interface PlanRun {
  readonly project: Project
  readonly config: Config
  /** Relative to the project's root. */
  readonly planPath: string
  readonly options: RunOptions
  readonly human: Human
  readonly json: boolean
  /** A NATS server to use: its services do the work, this process only follows. */
  readonly nats?: string
  /** Added to OpenCode's environment. */
  readonly openCodeEnvironment?: Readonly<Record<string, string>>
  /** What else the summary names, and where it lies. */
  readonly places: ReadonlyArray<readonly [string, string]>
}

const open = new Set<RunView["status"]>(["running", "waiting", "paused"])

/** The run of this plan that is not over yet. */
const findOpenRun = Effect.fnUntraced(function* ({ planPath, project }: PlanRun) {
  const runs = yield* listOf("orchestrator", RunView)
  return runs
    .filter((run) => open.has(run.status) && run.planPath === planPath && run.workspace === project.root)
    .sort((a, b) => b.startedAt.localeCompare(a.startedAt))[0]
})

const start = Effect.fnUntraced(function* (run: PlanRun) {
  const messenger = yield* Messenger
  const plan = yield* Effect.tryPromise({
    try: () => readFile(join(run.project.root, run.planPath), "utf8"),
    catch: (cause) => missing("plan-unreadable", `${run.planPath} cannot be read.`, "Check its permissions.", cause)
  })
  if (!run.options.allowDirty && !run.options.worktree) yield* requireCleanTree(run.project)
  const runId = makeRunId(Date.now(), randomUUID())
  yield* messenger.send(
    "orchestrator",
    runId,
    { _tag: "StartRun", runId, plan, planPath: run.planPath, workspace: run.project.root, options: run.options },
    { id: `start-${runId}` }
  )
  return runId
})

const goOn = Effect.fnUntraced(function* (view: RunView, json: boolean) {
  const messenger = yield* Messenger
  if (!json)
    say(
      `going on with run ${view.runId} of ${view.planPath} (${view.status}${view.phase === undefined ? "" : `, phase ${view.phase}`})`
    )
  if (view.status === "paused") {
    yield* messenger.send(
      "orchestrator",
      view.runId,
      { _tag: "ResumeRun", runId: view.runId },
      { id: `resume-${randomUUID()}` }
    )
  }
})

const places = (run: PlanRun, view: RunView): ReadonlyArray<readonly [string, string]> => [
  ["workspace", view.directory ?? view.workspace],
  ["journal and logs", run.project.directory],
  ...run.places
]

const conclude = Effect.fnUntraced(function* (run: PlanRun, runId: RunId) {
  const view = yield* showRun(runId)
  if (!run.json) data(runSummary(view, places(run, view)))
})

/** How a run stands that this process followed, where there is nothing left to follow. */
const standing: Readonly<Partial<Record<RunView["status"], ExitCode>>> = {
  paused: exitCodes.waiting,
  completed: exitCodes.done,
  failed: exitCodes.runFailed,
  aborted: exitCodes.aborted
}

const followed = Effect.fnUntraced(function* (run: PlanRun, own: Ref.Ref<RunId | undefined>) {
  const since = new Date(Date.now() - 1).toISOString()
  const known = yield* Ref.get(own)
  const existing = yield* known === undefined ? findOpenRun(run) : showRun(known)
  const runId = existing?.runId ?? (yield* start(run))
  yield* Ref.set(own, runId)
  const stands = known === undefined || existing === undefined ? undefined : standing[existing.status]
  if (stands !== undefined) return { runId, code: stands }
  if (existing !== undefined) yield* goOn(existing, run.json)
  const code = yield* follow(runId, {
    human: run.human,
    json: run.json,
    ...(existing === undefined ? {} : { since })
  })
  return { runId, code }
})

/** `own`: the run that this process follows already. It may have ended unseen: nothing is begun in its place. */
const work = Effect.fnUntraced(function* (run: PlanRun, own: Ref.Ref<RunId | undefined>) {
  const { code, runId } = yield* followed(run, own)
  if (code !== exitCodes.waiting && code !== exitCodes.interrupted) yield* conclude(run, runId)
  return code
})

/**
 * Gives the exit code of protocol.md; fails with a `CliFailure` when something the run needs is missing. When the
 * process that did the work ends, this one goes on with it.
 */
export const executePlan = Effect.fn("executePlan")(function* (run: PlanRun) {
  if (!run.options.allowDirty && !run.options.worktree && !isInitialised(run.project))
    yield* requireCleanTree(run.project)
  const own = yield* Ref.make<RunId | undefined>(undefined)
  return yield* duringTenure(work(run, own)).pipe(
    Effect.provide(hostingSystem(run)),
    Effect.tapError((error) =>
      Effect.sync(() => {
        if (error instanceof BrokerLost && !run.json) say("the process that did the work has ended; going on here")
      })
    ),
    Effect.retry({ while: (error) => error instanceof BrokerLost })
  )
})

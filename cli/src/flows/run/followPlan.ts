/** Starts a run of a plan or continues the open one, follows it, and prints its summary. */
import { randomUUID } from "node:crypto"
import { Messenger } from "@reprise/actor"
import { defined, type RunId, type RunView, to } from "@reprise/protocol"
import { Effect, Ref } from "effect"
import { ensureSchemaFile } from "../../config/jsonSchema.ts"
import { untilBrokerLostOrFull } from "../../system/broker/broker.ts"
import { allRuns, findPostponed, findRun } from "../../system/lookUp/lookUp.ts"
import { newRunId } from "../../system/names.ts"
import { type ExitCode, exitCodes } from "../../terminal/exitCodes.ts"
import { data, say } from "../../terminal/Printer.ts"
import { visibleLine } from "../../terminal/visible.ts"
import { isOpenRun } from "../../views/ended.ts"
import { Display } from "../../views/live/Display.ts"
import { postponedLong } from "../../views/postponedText.ts"
import { doneBefore, nextStep, placeOf, runSummary } from "../../views/runText.ts"
import type { Answerer } from "../gate/followEvents.ts"
import { followRun } from "./followRun.ts"
import { requireCleanTree } from "./preflight.ts"
import { isRunOf, type PreparedRun, startRun } from "./prepareRun.ts"

export interface PlanExecution extends PreparedRun {
  readonly answerer: Answerer
  readonly json: boolean
  /** Added to OpenCode's environment. */
  readonly openCodeEnvironment?: Readonly<Record<string, string>>
  /** What else the summary names, and where it is. */
  readonly locations: ReadonlyArray<readonly [string, string]>
}

/** The newest run of this plan that has not ended. */
const findOpenRun = (runs: ReadonlyArray<RunView>): RunView | undefined => runs.find(isOpenRun)

/** The runs of this plan, the newest first. */
const runsOfPlan = (execution: PlanExecution) =>
  Effect.map(allRuns, (runs) =>
    runs.filter((run) => isRunOf(execution, run)).sort((a, b) => b.startedAt.localeCompare(a.startedAt))
  )

/** Sent again it changes nothing. */
const start = Effect.fnUntraced(function* (execution: PlanExecution, runId: RunId) {
  const messenger = yield* Messenger
  yield* messenger.send(startRun(execution, runId), { id: `start-${runId}` })
})

/** The model that the command line names goes to the open run, which keeps everything else that it was started with. */
const changeModel = Effect.fnUntraced(function* ({ config, json }: PlanExecution, { models, runId }: RunView) {
  const { source, value } = config.resolved("model")
  if (source !== "command line" || typeof value !== "string" || value === models?.author) return
  const messenger = yield* Messenger
  const command = to.orchestrator(runId).ChangeModel({ role: "author", model: value })
  yield* messenger.send(command, { id: `model-${randomUUID()}` })
  if (json) return
  const before = models?.author ?? "the runtime's own"
  say(`The author's next turn has model ${value}; it was ${before}. 'reprise pause --now' ends the current turn.`)
})

const resume = Effect.fnUntraced(function* (execution: PlanExecution, run: RunView) {
  const { json } = execution
  const { phase, planPath, runId, status } = run
  const messenger = yield* Messenger
  const display = yield* Display
  const { postponed } = (yield* Effect.orElseSucceed(findPostponed(runId), () => undefined)) ?? {}
  yield* display.continued({ ...run, ...defined({ postponed }) })
  if (!json)
    say(
      `Continuing run ${runId} of ${visibleLine(planPath)} (${status}${phase === undefined ? "" : `, phase ${phase}`})`
    )
  if (!json && postponed !== undefined) {
    say(`${postponedLong(postponed, Date.now())}. 'reprise resume ${runId}' tries again now.`)
  }
  yield* changeModel(execution, run)
  if (execution.options.auto && !run.auto && !json) {
    say("It was started without --auto, so it still asks. To use --auto, abort it and start a new run.")
  }
  if (status !== "paused") return
  yield* messenger.send(to.orchestrator(runId).ResumeRun(), { id: `resume-${randomUUID()}` })
})

const printSummary = Effect.fnUntraced(function* ({ json, locations, project }: PlanExecution, runId: RunId) {
  const view = yield* findRun(runId)
  if (json) return
  const standard = [
    ["workspace", placeOf(view)],
    ["journal and logs", project.directory]
  ] as const
  data(runSummary(view, [...standard, ...locations]))
  if (view.status === "completed") data(nextStep(view))
})

/** The exit code of a run that has ended or is paused; undefined if it is still to be followed. */
const settledCode = (status: RunView["status"]): ExitCode | undefined => {
  switch (status) {
    case "paused":
      return exitCodes.waiting
    case "completed":
      return exitCodes.done
    case "failed":
      return exitCodes.runFailed
    case "aborted":
      return exitCodes.aborted
    case "running":
    case "waiting":
      return undefined
  }
}

/** The run is known before it is sent: the broker may be lost before it says that it has stored the command. */
const startAndFollow = Effect.fnUntraced(function* (execution: PlanExecution, followed: Ref.Ref<RunId | undefined>) {
  yield* requireCleanTree(execution)
  const runId = newRunId()
  yield* Ref.set(followed, runId)
  yield* start(execution, runId)
  return { runId, code: yield* followRun(runId, execution) }
})

const resumeAndFollow = Effect.fnUntraced(function* (execution: PlanExecution, run: RunView, since: string) {
  yield* resume(execution, run)
  return { runId: run.runId, code: yield* followRun(run.runId, { ...execution, since }) }
})

/** A run that this process has started or found. It may have ended unseen, or nobody may have begun it yet. */
const followKnown = Effect.fnUntraced(function* (execution: PlanExecution, runId: RunId, since: string) {
  const run = yield* findRun(runId).pipe(
    Effect.catchIf(
      ({ code }) => code === "unknown-run",
      () => Effect.succeed(undefined)
    )
  )
  if (run === undefined) {
    yield* start(execution, runId)
    return { runId, code: yield* followRun(runId, execution) }
  }
  const code = settledCode(run.status)
  return code === undefined ? yield* resumeAndFollow(execution, run, since) : { runId, code }
})

const follow = Effect.fnUntraced(function* (execution: PlanExecution, followed: Ref.Ref<RunId | undefined>) {
  const since = new Date(Date.now() - 1).toISOString()
  yield* ensureSchemaFile(execution.project)
  const known = yield* Ref.get(followed)
  if (known !== undefined) return yield* followKnown(execution, known, since)
  const runs = yield* runsOfPlan(execution)
  const open = findOpenRun(runs)
  if (open === undefined) {
    const notice = doneBefore(runs)
    if (notice !== undefined && !execution.json) say(notice)
    return yield* startAndFollow(execution, followed)
  }
  yield* Ref.set(followed, open.runId)
  return yield* resumeAndFollow(execution, open, since)
})

const followAndSummarise = Effect.fnUntraced(function* (
  execution: PlanExecution,
  followed: Ref.Ref<RunId | undefined>
) {
  const { code, runId } = yield* follow(execution, followed)
  if (code !== exitCodes.waiting && code !== exitCodes.interrupted) yield* printSummary(execution, runId)
  return code
})

/**
 * Returns the exit code; fails with `BrokerLost` when the process that did the work has ended. `followed`: the run that this
 * process follows already, so that no new one is started.
 */
export const followPlan = (execution: PlanExecution, followed: Ref.Ref<RunId | undefined>) =>
  untilBrokerLostOrFull(followAndSummarise(execution, followed))

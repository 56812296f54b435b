/** `reprise run PLAN` and `reprise validate PLAN`: everything is checked before anything starts. */
import { PhaseId, RunId, type RuntimeName } from "@reprise/protocol"
import { Effect, Option, Schema } from "effect"
import { ensureSchemaFile } from "../../config/jsonSchema.ts"
import { noRunFlags, type RunFlags, runtimesOf } from "../../config/serviceOptions.ts"
import { findProject } from "../../project/Project.ts"
import type { PlanFile } from "../../project/planFile.ts"
import type { ClientFlags } from "../../system/clientSystem.ts"
import { requireRuntime } from "../../system/runtimes.ts"
import { requireSandbox, warningOf } from "../../system/sandbox.ts"
import { exitWith, wrongUse } from "../../terminal/CliFailure.ts"
import { exitCodes } from "../../terminal/exitCodes.ts"
import { PlainQuestions } from "../../terminal/fullScreen.ts"
import { say } from "../../terminal/Printer.ts"
import { isInteractive } from "../../terminal/readLine.ts"
import { agentsOf, requireTrust } from "../../trust/requireTrust.ts"
import { trustedSettingsOfRun } from "../../trust/trustedSettings.ts"
import { type ProgressFlags, withDisplay } from "../../views/live/Display.ts"
import { requireCommit } from "./preflight.ts"
import { describeRun, prepareRun } from "./prepareRun.ts"
import { startOrContinueRun } from "./startOrContinueRun.ts"
import { requireUnattended } from "./unattended.ts"

interface Flags extends ClientFlags, ProgressFlags {
  readonly plan: string
  readonly phase: Option.Option<string>
  readonly auto: boolean
  readonly noInput: boolean
  readonly plain: boolean
  readonly worktree: boolean
  readonly allowDirty: boolean
  readonly skipQuality: boolean
  readonly dryRun: boolean
  readonly runtime: Option.Option<RuntimeName>
  readonly model: Option.Option<string>
}

/** The run id in a description of a run that does not exist. */
const noRun = RunId.make("dry-run")

const settingsOf = ({ model, nats, runtime, worktree }: Flags) => ({
  runtime: Option.getOrUndefined(runtime),
  model: Option.getOrUndefined(model),
  nats: { url: Option.getOrUndefined(nats) },
  workspace: { worktree: worktree ? true : undefined }
})

const runFlagsOf = (flags: Flags) =>
  Effect.fnUntraced(function* ({ plan }: PlanFile) {
    const { allowDirty, auto, skipQuality } = flags
    const given: RunFlags = { auto, allowDirty, skipQuality }
    const phase = Option.getOrUndefined(flags.phase)
    if (phase === undefined) return given
    if (!plan.phases.some(({ id }) => id === phase)) {
      return yield* wrongUse(
        "unknown-phase",
        `${flags.plan} has no phase ${phase}.`,
        `Its phases are ${plan.phases.map(({ id }) => id).join(", ")}.`
      )
    }
    return Schema.is(PhaseId)(phase) ? { ...given, startPhase: phase } : given
  })

export const runPlan = (flags: Flags) =>
  flags.dryRun
    ? execute(flags)
    : withDisplay({ ...flags, asData: false, everyRun: false, idle: "Starting" }, execute(flags)).pipe(
        Effect.provideService(PlainQuestions, flags.plain)
      )

const execute = Effect.fn("runPlan")(function* (flags: Flags) {
  const terminal = isInteractive(flags)
  const project = yield* findProject(process.cwd())
  const prepared = yield* prepareRun(project, flags.plan, settingsOf(flags), runFlagsOf(flags))
  if (flags.dryRun) return describeRun(prepared, noRun, flags.json)
  const standing = yield* requireSandbox({ project, settings: prepared.config.settings })
  yield* requireUnattended(prepared.config.settings, prepared.options, prepared.plan.plan, standing)
  const openCodeUrl = prepared.config.settings.opencode.url
  yield* Effect.forEach(runtimesOf(prepared.options), (runtime) => requireRuntime(runtime, { openCodeUrl, terminal }))
  yield* requireCommit(prepared)
  const settings = trustedSettingsOfRun(prepared.config, prepared.options)
  yield* requireTrust(project, prepared.config, settings, {
    terminal,
    plan: flags.plan,
    agents: agentsOf(prepared.config)
  })
  const warning = warningOf(standing, prepared.options.runtime)
  if (warning !== undefined) say(warning)
  yield* ensureSchemaFile(project)
  const code = yield* startOrContinueRun({
    ...prepared,
    answerer: terminal ? "terminal" : "nobody",
    json: flags.json,
    locations: []
  }).pipe(
    Effect.onInterrupt(() =>
      Effect.sync(() => {
        if (!flags.json) say(`Stopped; nothing is lost. Continue: reprise run ${flags.plan}`)
      })
    )
  )
  if (code !== exitCodes.done) return yield* exitWith(code)
})

export const validatePlan = Effect.fn("validatePlan")(function* (flags: {
  readonly plan: string
  readonly json: boolean
}) {
  const project = yield* findProject(process.cwd())
  describeRun(yield* prepareRun(project, flags.plan, {}, () => Effect.succeed(noRunFlags)), noRun, flags.json)
})

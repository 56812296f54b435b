/** `reprise run PLAN`: everything that can be wrong is looked at before anything starts. */
import { locateClaude } from "@reprise/agent"
import { PhaseId } from "@reprise/protocol"
import { Effect, Option, Schema } from "effect"
import { loadConfig } from "../../config/loadConfig.ts"
import { runOptions } from "../../config/runOptions.ts"
import { ensureSchemaFile } from "../../config/schemaFile.ts"
import { findProject } from "../../project/Project.ts"
import { readPlan } from "../../project/planFile.ts"
import { readPrompts } from "../../project/readPrompts.ts"
import { exitCodes, exitWith, missing, wrongUse } from "../../terminal/CliFailure.ts"
import { data, okJson, say } from "../../terminal/Printer.ts"
import { requireTrust } from "../../trust/requireTrust.ts"
import { powersOfRun } from "../../trust/trustedSettings.ts"
import { describePlan, planText } from "../../views/planText.ts"
import { executePlan } from "./executePlan.ts"
import { requireCommit } from "./preflight.ts"

interface Flags {
  readonly plan: string
  readonly phase: Option.Option<string>
  readonly auto: boolean
  readonly noInput: boolean
  readonly worktree: boolean
  readonly allowDirty: boolean
  readonly skipQuality: boolean
  readonly dryRun: boolean
  readonly runtime: Option.Option<"opencode" | "claude">
  readonly model: Option.Option<string>
  readonly json: boolean
  readonly nats: Option.Option<string>
}

const commandLine = (flags: Flags): ReadonlyMap<string, unknown> =>
  new Map<string, unknown>([
    ...(flags.worktree ? [["workspace.worktree", true] as const] : []),
    ...Option.match(flags.runtime, { onNone: () => [], onSome: (runtime) => [["runtime", runtime] as const] }),
    ...Option.match(flags.model, { onNone: () => [], onSome: (model) => [["model", model] as const] }),
    ...Option.match(flags.nats, { onNone: () => [], onSome: (url) => [["nats.url", url] as const] })
  ])

export const runPlan = Effect.fn("runPlan")(function* (flags: Flags) {
  const terminal = process.stdin.isTTY === true && process.stderr.isTTY === true && !flags.noInput && !flags.json
  const project = yield* findProject(process.cwd())
  const { path, plan, text } = yield* readPlan(project, flags.plan)
  const startPhase = Option.getOrUndefined(flags.phase)
  if (startPhase !== undefined && !plan.phases.some(({ id }) => id === startPhase)) {
    return yield* wrongUse(
      "unknown-phase",
      `${flags.plan} has no phase ${startPhase}.`,
      `It has ${plan.phases.map(({ id }) => id).join(", ")}.`
    )
  }
  const config = yield* loadConfig(project.root, commandLine(flags), { path, plan })
  const given = {
    auto: flags.auto,
    allowDirty: flags.allowDirty,
    skipQuality: flags.skipQuality,
    ...(startPhase !== undefined && Schema.is(PhaseId)(startPhase) ? { startPhase } : {})
  }
  const options = runOptions(config, given, yield* readPrompts(project))
  if (flags.dryRun) {
    const description = describePlan(plan, { planPath: path, plan: text, workspace: project.root, options })
    return flags.json ? okJson(description) : data(planText(description))
  }
  if (options.runtime === "claude") {
    yield* locateClaude().pipe(
      Effect.mapError((error) =>
        missing("runtime-missing", error.message, "Install it, or use --runtime opencode.", error)
      )
    )
  }
  yield* requireCommit(project)
  yield* requireTrust(project, powersOfRun(config, options), { terminal, plan: flags.plan })
  yield* ensureSchemaFile(project)
  const code = yield* executePlan({
    project,
    config,
    planPath: path,
    options,
    human: terminal ? "terminal" : "nobody",
    json: flags.json,
    places: []
  }).pipe(
    Effect.onInterrupt(() =>
      Effect.sync(() => {
        if (!flags.json) say(`stopped; nothing is lost: 'reprise run ${flags.plan}' goes on with it`)
      })
    )
  )
  if (code !== exitCodes.done) return yield* exitWith(code)
})

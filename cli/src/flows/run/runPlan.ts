/** `reprise run PLAN` and `reprise validate PLAN`: everything is checked before anything starts. */
import { RunId, type RuntimeName } from "@reprise/protocol"
import { Effect, Option } from "effect"
import { noRunFlags } from "../../config/serviceOptions.ts"
import { findProject } from "../../project/findProject.ts"
import type { ClientFlags } from "../../system/clientSystem.ts"
import { exitWith } from "../../terminal/CliFailure.ts"
import { exitCodes } from "../../terminal/exitCodes.ts"
import { PlainQuestions } from "../../terminal/fullScreen.ts"
import { say } from "../../terminal/Printer.ts"
import { isInteractive } from "../../terminal/readLine.ts"
import { visibleLine } from "../../terminal/visible.ts"
import { type ProgressFlags, withDisplay } from "../../views/live/Display.ts"
import { type PreparedRun, prepareRun } from "./prepareRun.ts"
import { requireStartable } from "./requireStartable.ts"
import { startOrContinueRun } from "./startOrContinueRun.ts"

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
  readonly remote: Option.Option<string>
  readonly ref: Option.Option<string>
}

/** The run id in a description of a run that does not exist. */
const noRun = RunId.make("dry-run")

const describe = (prepared: PreparedRun, json: boolean) =>
  Effect.map(
    Effect.promise(() => import("./describeRun.ts")),
    ({ describeRun }) => describeRun(prepared, noRun, json)
  )

const settingsOf = ({ model, nats, runtime, worktree }: Flags) => ({
  runtime: Option.getOrUndefined(runtime),
  model: Option.getOrUndefined(model),
  nats: { url: Option.getOrUndefined(nats) },
  workspace: { worktree: worktree ? true : undefined }
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
  const prepared = yield* prepareRun(project, flags.plan, settingsOf(flags), {
    ...flags,
    phase: Option.getOrUndefined(flags.phase),
    remote: Option.getOrUndefined(flags.remote),
    ref: Option.getOrUndefined(flags.ref)
  })
  if (flags.dryRun) return yield* describe(prepared, flags.json)
  for (const warning of yield* requireStartable(prepared, {
    terminal,
    plan: flags.plan,
    ownRef: Option.isSome(flags.ref)
  }))
    say(warning)
  const code = yield* startOrContinueRun({
    ...prepared,
    answerer: terminal ? "terminal" : "nobody",
    json: flags.json,
    locations: []
  }).pipe(
    Effect.onInterrupt(() =>
      Effect.sync(() => {
        if (!flags.json) say(`Stopped; nothing is lost. Continue: reprise run ${visibleLine(flags.plan)}`)
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
  yield* describe(yield* prepareRun(project, flags.plan, {}, noRunFlags), flags.json)
})

/** Commands about plans and their runs. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import {
  jsonFlag,
  lazily,
  modelFlag,
  natsFlag,
  noInputFlag,
  onlyRunArgument,
  plainFlag,
  planArgument,
  progressFlags,
  reasonFlag,
  runArgument,
  runIdArgument,
  runtimeFlag,
  switchFlag
} from "./shared.ts"

export const run = Command.make(
  "run",
  {
    plan: planArgument,
    phase: Flag.String("phase").pipe(Flag.withDescription("Start at this phase"), Flag.optional),
    auto: Flag.Boolean("auto").pipe(
      Flag.withDescription("Never ask a human: retry, then abort"),
      Flag.withDefault(false)
    ),
    noInput: noInputFlag,
    plain: plainFlag,
    worktree: Flag.Boolean("worktree").pipe(
      Flag.withDescription("Work in a separate git worktree"),
      Flag.withDefault(false)
    ),
    remote: Flag.String("remote").pipe(
      Flag.withDescription("Hosts clone this remote (a name or an address) and push finished phases; needs --nats"),
      Flag.optional
    ),
    ref: Flag.String("ref").pipe(
      Flag.withDescription("Branch, tag or commit of the remote to begin from; default: the branch checked out here"),
      Flag.optional
    ),
    allowDirty: Flag.Boolean("allow-dirty").pipe(
      Flag.withDescription("Start even if there are uncommitted changes"),
      Flag.withDefault(false)
    ),
    skipQuality: Flag.Boolean("skip-quality").pipe(
      Flag.withDescription("Run no quality gates"),
      Flag.withDefault(false)
    ),
    dryRun: Flag.Boolean("dry-run").pipe(
      Flag.withDescription("Show what would happen; spend nothing"),
      Flag.withDefault(false)
    ),
    runtime: runtimeFlag,
    model: modelFlag,
    ...progressFlags,
    json: jsonFlag,
    nats: natsFlag
  },
  lazily(
    () => import("../flows/run/runPlan.ts"),
    (module, flags) => module.runPlan(flags)
  )
).pipe(
  Command.withDescription("Run a plan, or continue its open run"),
  Command.withExamples([
    { command: "reprise run PLAN.md", description: "Run a plan; you are asked only when needed" },
    { command: "reprise run PLAN.md --auto --json", description: "Never wait for a human; one event per line" }
  ])
)

export const validate = Command.make(
  "validate",
  { plan: planArgument, json: jsonFlag },
  lazily(
    () => import("../flows/run/runPlan.ts"),
    (module, flags) => module.validatePlan(flags)
  )
).pipe(Command.withDescription("Check a plan and show its phases, tasks, checkpoints and gates; spends nothing"))

export const status = Command.make(
  "status",
  { run: runArgument.pipe(Argument.optional), json: jsonFlag, nats: natsFlag },
  lazily(
    () => import("../flows/inspect/status.ts"),
    (module, flags) => module.status(flags)
  )
).pipe(Command.withDescription("Show the state of runs"))

export const summary = Command.make(
  "summary",
  { run: onlyRunArgument, json: jsonFlag, nats: natsFlag },
  lazily(
    () => import("../flows/inspect/status.ts"),
    (module, flags) => module.summary(flags)
  )
).pipe(Command.withDescription("Show what a run did so far: tasks with their commits, checkpoints, tokens and cost"))

export const watch = Command.make(
  "watch",
  { run: runArgument.pipe(Argument.optional), ...progressFlags, json: jsonFlag, nats: natsFlag },
  lazily(
    () => import("../flows/inspect/watch.ts"),
    (module, flags) => module.watch(flags)
  )
).pipe(Command.withDescription("Print the events of a run, or of all runs, as they happen"))

export const logs = Command.make(
  "logs",
  {
    run: onlyRunArgument,
    follow: switchFlag("follow", "Keep printing new events until the run ends").pipe(Flag.withAlias("f")),
    json: jsonFlag,
    nats: natsFlag
  },
  lazily(
    () => import("../flows/inspect/watch.ts"),
    (module, flags) => module.logs(flags)
  )
).pipe(Command.withDescription("Print a run's events"))

export const pause = Command.make(
  "pause",
  {
    run: onlyRunArgument,
    now: Flag.Boolean("now").pipe(
      Flag.withDescription("Interrupt the current turn instead of letting it finish; its session is kept"),
      Flag.withDefault(false)
    ),
    json: jsonFlag,
    nats: natsFlag
  },
  lazily(
    () => import("../flows/run/control.ts"),
    (module, flags) => module.pause(flags)
  )
).pipe(Command.withDescription("Pause a run after its current turn"))

export const resume = Command.make(
  "resume",
  { run: onlyRunArgument, json: jsonFlag, nats: natsFlag },
  lazily(
    () => import("../flows/run/control.ts"),
    (module, flags) => module.resume(flags)
  )
).pipe(Command.withDescription("Resume a paused run, or retry now if it is waiting for the model provider"))

export const abort = Command.make(
  "abort",
  { run: runArgument, reason: reasonFlag("run"), json: jsonFlag, nats: natsFlag },
  lazily(
    () => import("../flows/run/control.ts"),
    (module, flags) => module.abort(flags)
  )
).pipe(Command.withDescription("Stop a run for good; the workspace is kept"))

export const repair = Command.make(
  "repair",
  {
    run: runIdArgument,
    yes: Flag.Boolean("yes").pipe(Flag.withDescription("Do it without asking"), Flag.withDefault(false)),
    json: jsonFlag,
    nats: natsFlag
  },
  lazily(
    () => import("../flows/records/repair.ts"),
    (module, flags) => module.repair(flags)
  )
).pipe(Command.withDescription("End a run whose records cannot be read, and list what is lost"))

export const prune = Command.make(
  "prune",
  {
    days: Flag.Int("days").pipe(
      Flag.withDescription("Only runs and sessions that have not changed for this many days"),
      Flag.withDefault(14)
    ),
    yes: Flag.Boolean("yes").pipe(Flag.withDescription("Do it without asking"), Flag.withDefault(false)),
    json: jsonFlag,
    nats: natsFlag
  },
  lazily(
    () => import("../flows/records/prune.ts"),
    (module, flags) => module.prune(flags)
  )
).pipe(
  Command.withDescription(
    "Archive finished runs and standalone sessions to .reprise/archive, then remove them and their logs"
  ),
  Command.withExamples([{ command: "reprise prune --days 30 --yes", description: "Keep a month" }])
)

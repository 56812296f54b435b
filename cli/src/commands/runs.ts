/** Commands about plans and their runs. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { jsonFlag, lazily, natsFlag, planArgument, runArgument } from "./shared.ts"

export const run = Command.make(
  "run",
  {
    plan: planArgument,
    phase: Flag.String("phase").pipe(Flag.withDescription("Start at this phase"), Flag.optional),
    auto: Flag.Boolean("auto").pipe(Flag.withDescription("Ask nobody: retry, then abort"), Flag.withDefault(false)),
    noInput: Flag.Boolean("no-input").pipe(
      Flag.withDescription("Never prompt: park and exit 4 when a human is needed"),
      Flag.withDefault(false)
    ),
    worktree: Flag.Boolean("worktree").pipe(
      Flag.withDescription("Work in a git worktree of its own"),
      Flag.withDefault(false)
    ),
    allowDirty: Flag.Boolean("allow-dirty").pipe(
      Flag.withDescription("Start although files are not committed"),
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
    runtime: Flag.Literals("runtime", ["opencode", "claude"]).pipe(
      Flag.withDescription("What hosts the agents"),
      Flag.optional
    ),
    model: Flag.String("model").pipe(Flag.withDescription("provider/model of the agents"), Flag.optional),
    json: jsonFlag,
    nats: natsFlag
  },
  lazily(
    () => import("../flows/run/runPlan.ts"),
    (module, flags) => module.runPlan(flags)
  )
).pipe(
  Command.withDescription("Runs a plan, or goes on with the run of it that is open"),
  Command.withExamples([
    { command: "reprise run PLAN.md", description: "Run a plan; you are asked only when needed" },
    { command: "reprise run PLAN.md --auto --json", description: "Never wait for a human; one event per line" }
  ])
)

export const validate = Command.make(
  "validate",
  { plan: planArgument, json: jsonFlag },
  lazily(
    () => import("../flows/run/validatePlan.ts"),
    (module, flags) => module.validatePlan(flags)
  )
).pipe(Command.withDescription("Checks a plan and shows its phases, tasks, checkpoints and gates; spends nothing"))

export const status = Command.make(
  "status",
  { run: runArgument.pipe(Argument.optional), json: jsonFlag, nats: natsFlag },
  lazily(
    () => import("../flows/inspect/status.ts"),
    (module, flags) => module.status(flags)
  )
).pipe(Command.withDescription("Where runs stand"))

export const summary = Command.make(
  "summary",
  { run: runArgument, json: jsonFlag, nats: natsFlag },
  lazily(
    () => import("../flows/inspect/summary.ts"),
    (module, flags) => module.summary(flags)
  )
).pipe(Command.withDescription("What a run did so far: tasks with their commits, checkpoints, tokens and cost"))

export const watch = Command.make(
  "watch",
  { run: runArgument.pipe(Argument.optional), json: jsonFlag, nats: natsFlag },
  lazily(
    () => import("../flows/inspect/watch.ts"),
    (module, flags) => module.watch(flags)
  )
).pipe(Command.withDescription("Live events of a run, or of all runs"))

export const logs = Command.make(
  "logs",
  { run: runArgument, json: jsonFlag, nats: natsFlag },
  lazily(
    () => import("../flows/inspect/watch.ts"),
    (module, flags) => module.logs(flags)
  )
).pipe(Command.withDescription("The story of one run"))

export const pause = Command.make(
  "pause",
  {
    run: runArgument,
    now: Flag.Boolean("now").pipe(
      Flag.withDescription("Abort the turn under way instead of letting it finish"),
      Flag.withDefault(false)
    ),
    json: jsonFlag,
    nats: natsFlag
  },
  lazily(
    () => import("../flows/run/control.ts"),
    (module, flags) => module.pause(flags)
  )
).pipe(Command.withDescription("Pauses a run after its turn"))

export const resume = Command.make(
  "resume",
  { run: runArgument, json: jsonFlag, nats: natsFlag },
  lazily(
    () => import("../flows/run/control.ts"),
    (module, flags) => module.resume(flags)
  )
).pipe(Command.withDescription("Lets a paused run go on"))

export const abort = Command.make(
  "abort",
  {
    run: runArgument,
    reason: Flag.String("reason").pipe(
      Flag.withDescription("Recorded with the run"),
      Flag.withDefault("aborted by the user")
    ),
    json: jsonFlag,
    nats: natsFlag
  },
  lazily(
    () => import("../flows/run/control.ts"),
    (module, flags) => module.abort(flags)
  )
).pipe(Command.withDescription("Stops a run for good; the workspace is kept"))

export const prune = Command.make(
  "prune",
  {
    days: Flag.Int("days").pipe(
      Flag.withDescription("Only runs of which nothing was heard for so many days"),
      Flag.withDefault(14)
    ),
    yes: Flag.Boolean("yes").pipe(Flag.withDescription("Do it without asking"), Flag.withDefault(false)),
    json: jsonFlag,
    nats: natsFlag
  },
  lazily(
    () => import("../flows/prune/pruneCommand.ts"),
    (module, flags) => module.prune(flags)
  )
).pipe(
  Command.withDescription("Archives finished runs to .reprise/archive and forgets them, with their logs"),
  Command.withExamples([{ command: "reprise prune --days 30 --yes", description: "Keep a month" }])
)

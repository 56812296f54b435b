/** The command line (protocol: The command line): names, flags and help. What commands do is loaded when they are called. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { config, init, prompts, trust, worktree } from "./repository.ts"
import { attach, sessions } from "./sessions.ts"
import { jsonFlag, lazily, natsFlag, planArgument, runArgument } from "./shared.ts"

const run = Command.make(
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
    () => import("../run/runPlan.ts"),
    (module, flags) => module.runPlan(flags)
  )
).pipe(
  Command.withDescription("Runs a plan, or goes on with the run of it that is open"),
  Command.withExamples([
    { command: "reprise run PLAN.md", description: "Run a plan; you are asked only when needed" },
    { command: "reprise run PLAN.md --auto --json", description: "Never wait for a human; one event per line" }
  ])
)

const validate = Command.make(
  "validate",
  { plan: planArgument, json: jsonFlag },
  lazily(
    () => import("../run/validatePlan.ts"),
    (module, flags) => module.validatePlan(flags)
  )
).pipe(Command.withDescription("Checks a plan and shows its phases, tasks, checkpoints and gates; spends nothing"))

const escalationArgument = Argument.String("ID").pipe(
  Argument.withDescription("Id of a question; see 'reprise gate list'")
)

const gateList = Command.make(
  "list",
  { json: jsonFlag, nats: natsFlag },
  lazily(
    () => import("../gate/listQuestions.ts"),
    (module, flags) => module.listQuestions(flags)
  )
).pipe(Command.withDescription("Lists the open questions of every run"))

const gateShow = Command.make(
  "show",
  { id: escalationArgument, json: jsonFlag, nats: natsFlag },
  lazily(
    () => import("../gate/showOne.ts"),
    (module, flags) => module.showOne(flags)
  )
).pipe(Command.withDescription("Shows one question with its evidence"))

const gateAnswer = Command.make(
  "answer",
  {
    id: escalationArgument,
    choice: Argument.String("CHOICE").pipe(
      Argument.withDescription("continue-session|c, fix|f, override|o, abort|q, or an option's own name")
    ),
    guidance: Flag.String("guidance").pipe(
      Flag.withDescription("Words for the agent; - reads standard input"),
      Flag.optional
    ),
    json: jsonFlag,
    nats: natsFlag
  },
  lazily(
    () => import("../gate/giveAnswer.ts"),
    (module, flags) => module.giveAnswer(flags)
  )
).pipe(
  Command.withDescription("Answers a question; the first valid answer wins"),
  Command.withExamples([
    { command: "reprise gate answer RUN-e1 c --guidance 'use the new API'", description: "Continue the same session" }
  ])
)

const gate = Command.make(
  "gate",
  {
    json: Flag.Boolean("json").pipe(
      Flag.withDescription("Print the open questions as JSON, as 'gate list' does, and end"),
      Flag.withDefault(false)
    ),
    nats: natsFlag
  },
  lazily(
    () => import("../gate/gateSession.ts"),
    (module, flags) => module.gateSession(flags)
  )
).pipe(
  Command.withDescription("The gate in the terminal: every open question of every run, live"),
  Command.withSubcommands([gateList, gateShow, gateAnswer])
)

const status = Command.make(
  "status",
  { run: runArgument.pipe(Argument.optional), json: jsonFlag, nats: natsFlag },
  lazily(
    () => import("../run/status.ts"),
    (module, flags) => module.status(flags)
  )
).pipe(Command.withDescription("Where runs stand"))

const summary = Command.make(
  "summary",
  { run: runArgument, json: jsonFlag, nats: natsFlag },
  lazily(
    () => import("../run/summary.ts"),
    (module, flags) => module.summary(flags)
  )
).pipe(Command.withDescription("What a run did so far: tasks with their commits, checkpoints, tokens and cost"))

const watch = Command.make(
  "watch",
  { run: runArgument.pipe(Argument.optional), json: jsonFlag, nats: natsFlag },
  lazily(
    () => import("../run/watch.ts"),
    (module, flags) => module.watch(flags)
  )
).pipe(Command.withDescription("Live events of a run, or of all runs"))

const logs = Command.make(
  "logs",
  { run: runArgument, json: jsonFlag, nats: natsFlag },
  lazily(
    () => import("../run/watch.ts"),
    (module, flags) => module.logs(flags)
  )
).pipe(Command.withDescription("The story of one run"))

const pause = Command.make(
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
    () => import("../run/control.ts"),
    (module, flags) => module.pause(flags)
  )
).pipe(Command.withDescription("Pauses a run after its turn"))

const resume = Command.make(
  "resume",
  { run: runArgument, json: jsonFlag, nats: natsFlag },
  lazily(
    () => import("../run/control.ts"),
    (module, flags) => module.resume(flags)
  )
).pipe(Command.withDescription("Lets a paused run go on"))

const abort = Command.make(
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
    () => import("../run/control.ts"),
    (module, flags) => module.abort(flags)
  )
).pipe(Command.withDescription("Stops a run for good; the workspace is kept"))

const prune = Command.make(
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
    () => import("../prune/pruneCommand.ts"),
    (module, flags) => module.prune(flags)
  )
).pipe(
  Command.withDescription("Archives finished runs to .reprise/archive and forgets them, with their logs"),
  Command.withExamples([{ command: "reprise prune --days 30 --yes", description: "Keep a month" }])
)

const up = Command.make(
  "up",
  { json: jsonFlag, nats: natsFlag },
  lazily(
    () => import("../up/up.ts"),
    (module, flags) => module.up(flags)
  )
).pipe(
  Command.withDescription("Does the work of every run of this repository until stopped"),
  Command.withExamples([
    { command: "reprise up", description: "Parked runs go on by themselves when their question is answered" }
  ])
)

const serve = Command.make(
  "serve",
  {
    service: Argument.Literals("SERVICE", ["orchestrator", "session-manager", "reviewer", "gate", "workspace"]).pipe(
      Argument.withDescription("orchestrator, session-manager, reviewer, gate or workspace")
    ),
    json: jsonFlag,
    nats: natsFlag
  },
  lazily(
    () => import("../system/serve.ts"),
    (module, flags) => module.serve(flags)
  )
).pipe(Command.withDescription("Runs one service against a NATS server, as in a container"))

const doctor = Command.make(
  "doctor",
  {
    json: jsonFlag,
    fix: Flag.Boolean("fix").pipe(
      Flag.withDescription("Mend what can be mended without asking"),
      Flag.withDefault(false)
    ),
    nats: natsFlag
  },
  lazily(
    () => import("../doctor/doctor.ts"),
    (module, flags) => module.doctor(flags)
  )
).pipe(Command.withDescription("Looks at versions, broker, streams, runtimes, git, configuration and dead letters"))

const demo = Command.make(
  "demo",
  {
    directory: Flag.String("directory").pipe(Flag.withDescription("Where to put the sample repository"), Flag.optional),
    noInput: Flag.Boolean("no-input").pipe(
      Flag.withDescription("The demo answers its own question"),
      Flag.withDefault(false)
    ),
    json: jsonFlag
  },
  lazily(
    () => import("../demo/demo.ts"),
    (module, flags) => module.demo(flags)
  )
).pipe(Command.withDescription("A real run on a sample repository with a scripted model: no key, no network"))

const completion = Command.make(
  "completion",
  {
    shell: Argument.Literals("SHELL", ["bash", "zsh", "fish"]).pipe(Argument.withDescription("bash, zsh or fish")),
    json: jsonFlag
  },
  lazily(
    () => import("./completion.ts"),
    (module, flags) => module.completion(flags)
  )
).pipe(Command.withDescription("Prints a completion script for a shell"))

export const root = Command.make("reprise").pipe(
  Command.withDescription("Runs implementation plans through coding agents and never throws a conversation away"),
  Command.withSubcommands([
    init,
    run,
    validate,
    gate,
    status,
    summary,
    watch,
    logs,
    pause,
    resume,
    abort,
    prune,
    sessions,
    up,
    attach,
    serve,
    trust,
    config,
    prompts,
    worktree,
    doctor,
    demo,
    completion
  ])
)

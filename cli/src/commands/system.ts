/** Commands that run the services, check the installation, and show a demo. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { jsonFlag, lazily, natsFlag, plainFlag, progressFlags, switchFlag } from "./shared.ts"

export const up = Command.make(
  "up",
  {
    web: switchFlag("web", "Also serve the web console, and print its link"),
    viewerLink: switchFlag("viewer-link", "Also print a link for people who may view but not answer"),
    port: Flag.Int("port").pipe(Flag.withDescription("Port of the web console; 0: any free one"), Flag.optional),
    ...progressFlags,
    json: jsonFlag,
    nats: natsFlag
  },
  lazily(
    () => import("../flows/serve/serveProject.ts"),
    (module, flags) => module.up(flags)
  )
).pipe(
  Command.withDescription("Keep all runs of this repository going until Ctrl-C"),
  Command.withExamples([
    { command: "reprise up", description: "Parked runs continue by themselves when their question is answered" },
    { command: "reprise up --web", description: "Answer in the browser: open the link that is printed" }
  ])
)

export const serve = Command.make(
  "serve",
  {
    service: Argument.Literals("SERVICE", [
      "orchestrator",
      "session-manager",
      "reviewer",
      "gate",
      "workspace",
      "console"
    ]).pipe(
      Argument.withDescription("orchestrator, session-manager, reviewer, gate or workspace; console: the web console")
    ),
    json: jsonFlag,
    nats: natsFlag
  },
  lazily(
    () => import("../flows/serve/serve.ts"),
    (module, flags) => module.serve(flags)
  )
).pipe(Command.withDescription("Run one service against a NATS server, as in a container"))

const hostsList = Command.make(
  "list",
  { json: jsonFlag, nats: natsFlag },
  lazily(
    () => import("../flows/inspect/hosts.ts"),
    (module, flags) => module.listHosts(flags)
  )
).pipe(Command.withDescription("Show each host: whether it answers and takes new runs, and its open runs"))

const hostsForget = Command.make(
  "forget",
  {
    host: Argument.String("HOST").pipe(Argument.withDescription("A host that is gone for good")),
    json: jsonFlag,
    nats: natsFlag
  },
  lazily(
    () => import("../flows/inspect/hosts.ts"),
    (module, flags) => module.forgetHost(flags)
  )
).pipe(Command.withDescription("Move the runs of a host that is gone for good to other hosts, from their last push"))

const hostsDrain = Command.make(
  "drain",
  {
    host: Argument.String("HOST").pipe(Argument.withDescription("Name of the host to take out of service")),
    undo: switchFlag("undo", "Let the host take new runs again"),
    noWait: switchFlag("no-wait", "Show what happens to its runs without waiting for them to leave"),
    json: jsonFlag,
    nats: natsFlag
  },
  lazily(
    () => import("../flows/inspect/drainHost.ts"),
    (module, flags) => module.drainHost(flags)
  )
).pipe(
  Command.withDescription("Stop a host from taking new runs, and wait until the runs that can move have moved"),
  Command.withExamples([
    { command: "reprise hosts drain reprise-host-1", description: "Before a machine or a pod is taken out of service" },
    { command: "reprise hosts drain reprise-host-1 --undo", description: "When it is back" }
  ])
)

export const hosts = Command.make("hosts").pipe(
  Command.withDescription("Show hosts on your NATS server, and take them out of service"),
  Command.withSubcommands([hostsList, hostsDrain, hostsForget])
)

export const streams = Command.make(
  "streams",
  { json: jsonFlag, nats: natsFlag },
  lazily(
    () => import("../flows/serve/makeStreams.ts"),
    (module, flags) => module.makeStreams(flags)
  )
).pipe(Command.withDescription("Create or update the streams on a NATS server, as its operator"))

export const doctor = Command.make(
  "doctor",
  {
    json: jsonFlag,
    fix: Flag.Boolean("fix").pipe(
      Flag.withDescription("Fix what can be fixed without asking"),
      Flag.withDefault(false)
    ),
    askModels: Flag.Boolean("ask-models").pipe(
      Flag.withDescription("Ask the configured models for one word, to check their names and keys"),
      Flag.withDefault(false)
    ),
    replay: Flag.String("replay").pipe(
      Flag.withMetavar("RUN"),
      Flag.withDescription("Instead, replay the journals of a run and name the first difference"),
      Flag.optional
    ),
    nats: natsFlag
  },
  lazily(
    () => import("../flows/doctor/doctor.ts"),
    (module, flags) => module.doctor(flags)
  )
).pipe(Command.withDescription("Check versions, broker, streams, runtimes, git, configuration and dead letters"))

const letterArgument = Argument.Int("LETTER").pipe(
  Argument.withDescription("Number of a dead letter; see 'reprise dead-letters list'")
)
const letterFlags = { letter: letterArgument, json: jsonFlag, nats: natsFlag }

export const deadLetters = Command.make("dead-letters").pipe(
  Command.withDescription("Show, resend and remove messages that could not be handled"),
  Command.withSubcommands([
    Command.make(
      "list",
      { json: jsonFlag, nats: natsFlag },
      lazily(
        () => import("../flows/doctor/deadLetters.ts"),
        (module, flags) => module.listDeadLetters(flags)
      )
    ).pipe(Command.withDescription("List the dead letters, the oldest first")),
    Command.make(
      "show",
      letterFlags,
      lazily(
        () => import("../flows/doctor/deadLetters.ts"),
        (module, flags) => module.showDeadLetter(flags)
      )
    ).pipe(Command.withDescription("Show a dead letter: the message, and why it could not be handled")),
    Command.make(
      "replay",
      letterFlags,
      lazily(
        () => import("../flows/doctor/deadLetters.ts"),
        (module, flags) => module.replayDeadLetter(flags)
      )
    ).pipe(Command.withDescription("Resend the message after you fixed the cause")),
    Command.make(
      "drop",
      letterFlags,
      lazily(
        () => import("../flows/doctor/deadLetters.ts"),
        (module, flags) => module.dropDeadLetter(flags)
      )
    ).pipe(Command.withDescription("Remove a dead letter"))
  ])
)

export const demo = Command.make(
  "demo",
  {
    directory: Flag.String("directory").pipe(
      Flag.withDescription("Where to create the sample repository"),
      Flag.optional
    ),
    noInput: Flag.Boolean("no-input").pipe(
      Flag.withDescription("Let the demo answer its own question"),
      Flag.withDefault(false)
    ),
    plain: plainFlag,
    json: jsonFlag
  },
  lazily(
    () => import("../flows/demo/demo.ts"),
    (module, flags) => module.demo(flags)
  )
).pipe(Command.withDescription("Run a sample plan with a scripted model: no key, no network"))

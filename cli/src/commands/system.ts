/** Commands about Reprise itself: what does the work, and whether it can. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { jsonFlag, lazily, natsFlag } from "./shared.ts"

export const up = Command.make(
  "up",
  { json: jsonFlag, nats: natsFlag },
  lazily(
    () => import("../flows/serve/up.ts"),
    (module, flags) => module.up(flags)
  )
).pipe(
  Command.withDescription("Does the work of every run of this repository until stopped"),
  Command.withExamples([
    { command: "reprise up", description: "Parked runs go on by themselves when their question is answered" }
  ])
)

export const serve = Command.make(
  "serve",
  {
    service: Argument.Literals("SERVICE", ["orchestrator", "session-manager", "reviewer", "gate", "workspace"]).pipe(
      Argument.withDescription("orchestrator, session-manager, reviewer, gate or workspace")
    ),
    json: jsonFlag,
    nats: natsFlag
  },
  lazily(
    () => import("../flows/serve/serveService.ts"),
    (module, flags) => module.serve(flags)
  )
).pipe(Command.withDescription("Runs one service against a NATS server, as in a container"))

export const doctor = Command.make(
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
    () => import("../flows/doctor/doctor.ts"),
    (module, flags) => module.doctor(flags)
  )
).pipe(Command.withDescription("Looks at versions, broker, streams, runtimes, git, configuration and dead letters"))

export const demo = Command.make(
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
    () => import("../flows/demo/demo.ts"),
    (module, flags) => module.demo(flags)
  )
).pipe(Command.withDescription("A real run on a sample repository with a scripted model: no key, no network"))

export const completion = Command.make(
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

/** Commands about the agents' sessions. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { jsonFlag, lazily, natsFlag } from "./shared.ts"

const sessionArgument = Argument.String("ID").pipe(
  Argument.withDescription("Id of a session; see 'reprise sessions list'")
)

const list = Command.make(
  "list",
  { json: jsonFlag, nats: natsFlag },
  lazily(
    () => import("../flows/sessions/listSessions.ts"),
    (module, flags) => module.list(flags)
  )
).pipe(Command.withDescription("Lists sessions with their tokens"))

const show = Command.make(
  "show",
  { id: sessionArgument, json: jsonFlag, nats: natsFlag },
  lazily(
    () => import("../flows/sessions/showSession.ts"),
    (module, flags) => module.show(flags)
  )
).pipe(Command.withDescription("Shows one session: what it is, what it used, and what was said in it"))

const exportCommand = Command.make(
  "export",
  {
    id: sessionArgument,
    directory: Argument.String("DIR").pipe(
      Argument.withDescription("Where 'agent-sessions' is made; without it: here"),
      Argument.optional
    ),
    json: jsonFlag,
    nats: natsFlag
  },
  lazily(
    () => import("../flows/sessions/exportSession.ts"),
    (module, flags) => module.exportSession(flags)
  )
).pipe(
  Command.withDescription("Writes agent-sessions/ID/session.json: metadata and the whole conversation"),
  Command.withExamples([{ command: "reprise sessions export RUN-s1 /tmp", description: "From the archive, or live" }])
)

const abort = Command.make(
  "abort",
  {
    id: sessionArgument,
    reason: Flag.String("reason").pipe(
      Flag.withDescription("Recorded with the session"),
      Flag.withDefault("aborted by the user")
    ),
    json: jsonFlag,
    nats: natsFlag
  },
  lazily(
    () => import("../flows/sessions/abortSession.ts"),
    (module, flags) => module.abortSession(flags)
  )
).pipe(Command.withDescription("Stops a session for good; it is never continued"))

const start = Command.make(
  "start",
  {
    prompt: Argument.String("PROMPT").pipe(Argument.withDescription("What to do; - reads standard input")),
    noInput: Flag.Boolean("no-input").pipe(
      Flag.withDescription("Never prompt: park and exit 4 when a human is needed"),
      Flag.withDefault(false)
    ),
    runtime: Flag.Literals("runtime", ["opencode", "claude"]).pipe(
      Flag.withDescription("What hosts the agent"),
      Flag.optional
    ),
    model: Flag.String("model").pipe(Flag.withDescription("provider/model of the agent"), Flag.optional),
    json: jsonFlag,
    nats: natsFlag
  },
  lazily(
    () => import("../flows/sessions/startSession.ts"),
    (module, flags) => module.startSession(flags)
  )
).pipe(
  Command.withDescription(
    "Has an agent do something without a plan, or goes on with the open session of the same words"
  ),
  Command.withExamples([
    { command: 'reprise sessions start "rename the module log to journal"', description: "You are asked when needed" }
  ])
)

export const sessions = Command.make("sessions").pipe(
  Command.withDescription("The agents' sessions"),
  Command.withSubcommands([list, show, exportCommand, abort, start])
)

export const attach = Command.make(
  "attach",
  {
    id: Argument.String("SESSION").pipe(Argument.withDescription("Id of a session; see 'reprise sessions list'")),
    json: jsonFlag,
    nats: natsFlag
  },
  lazily(
    () => import("../flows/sessions/attach.ts"),
    (module, flags) => module.attach(flags)
  )
).pipe(Command.withDescription("Opens the runtime's own interface in a session; --json prints the command"))

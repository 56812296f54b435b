/** Commands about the agents' sessions. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import {
  jsonFlag,
  lazily,
  modelFlag,
  natsFlag,
  noInputFlag,
  plainFlag,
  progressFlags,
  reasonFlag,
  runtimeFlag,
  sessionArgument,
  switchFlag
} from "./shared.ts"

const list = Command.make(
  "list",
  { json: jsonFlag, nats: natsFlag },
  lazily(
    () => import("../flows/sessions/showSessions.ts"),
    (module, flags) => module.listSessions(flags)
  )
).pipe(Command.withDescription("List sessions with their tokens"))

const show = Command.make(
  "show",
  { id: sessionArgument("ID"), json: jsonFlag, nats: natsFlag },
  lazily(
    () => import("../flows/sessions/showSessions.ts"),
    (module, flags) => module.showSession(flags)
  )
).pipe(Command.withDescription("Show one session: its details, usage and conversation"))

const exportCommand = Command.make(
  "export",
  {
    id: sessionArgument("ID"),
    directory: Argument.String("DIR").pipe(
      Argument.withDescription("Folder in which to create 'agent-sessions'; default: the current one"),
      Argument.optional
    ),
    json: jsonFlag,
    nats: natsFlag
  },
  lazily(
    () => import("../flows/sessions/sessionFile.ts"),
    (module, flags) => module.exportSession(flags)
  )
).pipe(
  Command.withDescription("Write agent-sessions/ID/session.json: metadata and the whole conversation"),
  Command.withExamples([{ command: "reprise sessions export RUN-s1 /tmp", description: "From the archive, or live" }])
)

const abort = Command.make(
  "abort",
  { id: sessionArgument("ID"), reason: reasonFlag("session"), json: jsonFlag, nats: natsFlag },
  lazily(
    () => import("../flows/sessions/abortSession.ts"),
    (module, flags) => module.abortSession(flags)
  )
).pipe(Command.withDescription("Stop a session for good; it is never continued"))

const handBack = Command.make(
  "hand-back",
  { id: sessionArgument("ID"), json: jsonFlag, nats: natsFlag },
  lazily(
    () => import("../flows/sessions/handBack.ts"),
    (module, flags) => module.handBack(flags)
  )
).pipe(Command.withDescription("Say that you are done in a session: its agent reports as soon as it is idle"))

/** Of a task for an agent. */
const taskFlags = {
  noInput: noInputFlag,
  plain: plainFlag,
  runtime: runtimeFlag,
  model: modelFlag,
  ...progressFlags,
  json: jsonFlag,
  nats: natsFlag
}

const start = Command.make(
  "start",
  {
    prompt: Argument.String("PROMPT").pipe(Argument.withDescription("What to do; - reads standard input")),
    ...taskFlags
  },
  lazily(
    () => import("../flows/sessions/startSession.ts"),
    (module, flags) => module.startSession(flags)
  )
).pipe(
  Command.withDescription("Give an agent a one-off task; repeat the same text to continue it"),
  Command.withExamples([
    { command: 'reprise sessions start "rename the module log to journal"', description: "You are asked when needed" }
  ])
)

const fork = Command.make(
  "fork",
  {
    id: sessionArgument("ID"),
    prompt: Argument.String("PROMPT").pipe(
      Argument.withDescription("What to do; - reads standard input; default: complete the remaining tasks"),
      Argument.optional
    ),
    at: Flag.Int("at").pipe(
      Flag.withDescription("The turn to start after; default: the last finished one"),
      Flag.optional
    ),
    worktree: switchFlag("worktree", "Work in a new git worktree, on a new branch, at the commit of that turn"),
    ...taskFlags
  },
  lazily(
    () => import("../flows/sessions/forkSession.ts"),
    (module, flags) => module.forkSession(flags)
  )
).pipe(
  Command.withDescription("Start a new session from an earlier turn of another one, which stays unchanged"),
  Command.withExamples([
    {
      command: 'reprise sessions fork s1abc-0123abcd "use a queue instead" --at 2 --worktree',
      description: "Conversation and code as they were after the second turn"
    }
  ])
)

export const sessions = Command.make("sessions").pipe(
  Command.withDescription("Show, start, fork and stop agent sessions"),
  Command.withSubcommands([list, show, exportCommand, abort, handBack, start, fork])
)

export const attach = Command.make(
  "attach",
  { id: sessionArgument("SESSION"), json: jsonFlag, nats: natsFlag },
  lazily(
    () => import("../flows/sessions/attach.ts"),
    (module, flags) => module.attach(flags)
  )
).pipe(Command.withDescription("Open a session in its runtime's own interface; --json prints the command"))

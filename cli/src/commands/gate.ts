/** Commands about questions to humans. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { jsonFlag, lazily, natsFlag, plainFlag } from "./shared.ts"

const escalationArgument = Argument.String("ID").pipe(
  Argument.withDescription("Id of a question; see 'reprise gate list'")
)

const list = Command.make(
  "list",
  { json: jsonFlag, nats: natsFlag },
  lazily(
    () => import("../flows/gate/questions.ts"),
    (module, flags) => module.listQuestions(flags)
  )
).pipe(Command.withDescription("List the open questions of every run"))

const show = Command.make(
  "show",
  { id: escalationArgument, json: jsonFlag, nats: natsFlag },
  lazily(
    () => import("../flows/gate/questions.ts"),
    (module, flags) => module.showQuestion(flags)
  )
).pipe(Command.withDescription("Show one question with its evidence"))

const answer = Command.make(
  "answer",
  {
    id: escalationArgument,
    choice: Argument.String("CHOICE").pipe(
      Argument.withDescription(
        "continue-session|c, fix|f, override|o, abort|q, or the name of an option; fork leaves the question open and tries again in another session"
      )
    ),
    guidance: Flag.String("guidance").pipe(
      Flag.withDescription("Guidance for the agent; - reads standard input"),
      Flag.optional
    ),
    runtime: Flag.String("runtime").pipe(
      Flag.withDescription("With fix: the runtime of the fresh author, for the rest of the phase"),
      Flag.optional
    ),
    model: Flag.String("model").pipe(
      Flag.withDescription("With fix: the model of the fresh author, for the rest of the phase"),
      Flag.optional
    ),
    variant: Flag.String("variant").pipe(
      Flag.withDescription("With fix: how much the model should think, such as high"),
      Flag.optional
    ),
    commit: Flag.String("commit").pipe(
      Flag.withDescription(
        "The commit that you reviewed: the answer is refused if the question is now about another one"
      ),
      Flag.optional
    ),
    at: Flag.Int("at").pipe(
      Flag.withDescription("With fork: the turn to start after; default: the last finished one"),
      Flag.optional
    ),
    json: jsonFlag,
    nats: natsFlag
  },
  lazily(
    () => import("../flows/gate/giveAnswer.ts"),
    (module, flags) => module.giveAnswer(flags)
  )
).pipe(
  Command.withDescription("Answer a question; the first valid answer wins"),
  Command.withExamples([
    { command: "reprise gate answer RUN-e1 c --guidance 'use the new API'", description: "Continue the same session" },
    {
      command: "reprise gate answer RUN-e1 fork --guidance 'use a queue'",
      description: "The question stays open; a fork of the session tries again in a worktree"
    },
    {
      command: "reprise gate answer RUN-e1 fix --runtime claude",
      description: "Claude takes over, with a verified record"
    }
  ])
)

export const gate = Command.make(
  "gate",
  {
    json: Flag.Boolean("json").pipe(
      Flag.withDescription("Print the open questions as JSON, as 'gate list' does, and exit"),
      Flag.withDefault(false)
    ),
    plain: plainFlag,
    nats: natsFlag
  },
  lazily(
    () => import("../flows/gate/gateSession.ts"),
    (module, flags) => module.gateSession(flags)
  )
).pipe(
  Command.withDescription("Answer the open questions of every run in this terminal, as they come"),
  Command.withSubcommands([list, show, answer])
)

/** Commands about a repository: its configuration, its prompts, its worktrees. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { jsonFlag, lazily, natsFlag, planArgument } from "./shared.ts"

export const init = Command.make(
  "init",
  { json: jsonFlag },
  lazily(
    () => import("../flows/repository/init.ts"),
    (module, flags) => module.init(flags)
  )
).pipe(Command.withDescription("Writes reprise.toml with comments, and its JSON schema"))

export const trust = Command.make(
  "trust",
  { plan: planArgument.pipe(Argument.optional), json: jsonFlag },
  lazily(
    () => import("../flows/repository/trustSettings.ts"),
    (module, flags) => module.trustCommand(flags)
  )
).pipe(Command.withDescription("Trusts the commands of reprise.toml, and of a plan if named, as they are now"))

export const config = Command.make("config").pipe(
  Command.withDescription("The configuration"),
  Command.withSubcommands([
    Command.make(
      "explain",
      { plan: planArgument.pipe(Argument.optional), json: jsonFlag },
      lazily(
        () => import("../flows/repository/explainConfig.ts"),
        (module, flags) => module.explain(flags)
      )
    ).pipe(Command.withDescription("Shows every setting, its value and where it came from"))
  ])
)

export const worktree = Command.make("worktree").pipe(
  Command.withDescription("The git worktrees of runs"),
  Command.withSubcommands([
    Command.make(
      "list",
      { json: jsonFlag, nats: natsFlag },
      lazily(
        () => import("../flows/repository/worktrees.ts"),
        (module, flags) => module.list(flags)
      )
    ).pipe(Command.withDescription("Lists the worktrees that Reprise made, with their branches and runs")),
    Command.make(
      "remove",
      {
        worktree: Argument.String("WORKTREE").pipe(Argument.withDescription("Its name, run, branch or path")),
        force: Flag.Boolean("force").pipe(
          Flag.withDescription("Lose what is not committed in it"),
          Flag.withDefault(false)
        ),
        json: jsonFlag,
        nats: natsFlag
      },
      lazily(
        () => import("../flows/repository/worktrees.ts"),
        (module, flags) => module.remove(flags)
      )
    ).pipe(Command.withDescription("Removes a worktree; its branch stays"))
  ])
)

const promptArgument = Argument.String("NAME").pipe(
  Argument.withDescription("Name of a prompt; see 'reprise prompts list'")
)

export const prompts = Command.make("prompts").pipe(
  Command.withDescription("What agents are told"),
  Command.withSubcommands([
    Command.make(
      "list",
      { json: jsonFlag },
      lazily(
        () => import("../flows/repository/prompts.ts"),
        (module, flags) => module.list(flags)
      )
    ).pipe(Command.withDescription("Lists the prompts, when each is sent and which are your own")),
    Command.make(
      "show",
      { name: promptArgument, json: jsonFlag },
      lazily(
        () => import("../flows/repository/prompts.ts"),
        (module, flags) => module.show(flags)
      )
    ).pipe(Command.withDescription("Shows a prompt and its variables")),
    Command.make(
      "eject",
      { name: promptArgument, json: jsonFlag },
      lazily(
        () => import("../flows/repository/prompts.ts"),
        (module, flags) => module.eject(flags)
      )
    ).pipe(Command.withDescription("Writes a prompt to .reprise/prompts, to be edited"))
  ])
)

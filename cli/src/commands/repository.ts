/** Commands about a repository: its configuration, trust, prompts and worktrees. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import { jsonFlag, lazily, natsFlag, planArgument, switchFlag } from "./shared.ts"

export const init = Command.make(
  "init",
  { plan: switchFlag("plan", "Also write a sample PLAN.md"), json: jsonFlag },
  lazily(
    () => import("../flows/repository/init.ts"),
    (module, flags) => module.init(flags)
  )
).pipe(Command.withDescription("Write a commented reprise.toml and its JSON schema"))

export const trust = Command.make(
  "trust",
  {
    plan: planArgument.pipe(Argument.optional),
    list: switchFlag("list", "List what is trusted in this clone"),
    revoke: switchFlag("revoke", "Revoke all trust in this clone"),
    state: switchFlag("state", "Sign the .reprise folder after you have checked it"),
    json: jsonFlag
  },
  lazily(
    () => import("../flows/repository/manageTrust.ts"),
    (module, flags) => module.manageTrust(flags)
  )
).pipe(Command.withDescription("Trust the current commands and permissions of reprise.toml, and of a plan if named"))

export const config = Command.make("config").pipe(
  Command.withDescription("Show the configuration"),
  Command.withSubcommands([
    Command.make(
      "explain",
      { plan: planArgument.pipe(Argument.optional), json: jsonFlag },
      lazily(
        () => import("../flows/repository/explainConfig.ts"),
        (module, flags) => module.explainConfig(flags)
      )
    ).pipe(Command.withDescription("Show every setting, its value and where it came from"))
  ])
)

export const sandbox = Command.make("sandbox").pipe(
  Command.withDescription("Show what commands may touch in the sandbox"),
  Command.withSubcommands([
    Command.make(
      "explain",
      { json: jsonFlag },
      lazily(
        () => import("../flows/repository/explainSandbox.ts"),
        (module, flags) => module.explainSandbox(flags)
      )
    ).pipe(
      Command.withDescription("Show what commands may write, read and reach here, and whether the sandbox can be used")
    )
  ])
)

export const permissions = Command.make(
  "permissions",
  { json: jsonFlag },
  lazily(
    () => import("../flows/repository/managePermissions.ts"),
    (module, flags) => module.listPermissions(flags)
  )
).pipe(
  Command.withDescription("List the permission rules from the configuration and from answers at the gate"),
  Command.withSubcommands([
    Command.make(
      "list",
      { json: jsonFlag },
      lazily(
        () => import("../flows/repository/managePermissions.ts"),
        (module, flags) => module.listPermissions(flags)
      )
    ).pipe(Command.withDescription("List the rules")),
    Command.make(
      "remove",
      {
        ids: Argument.String("RULE").pipe(
          Argument.withDescription("Id of a rule that was written at the gate"),
          Argument.variadic()
        ),
        all: switchFlag("all", "Remove every rule that was written at the gate"),
        json: jsonFlag
      },
      lazily(
        () => import("../flows/repository/managePermissions.ts"),
        (module, flags) => module.removePermissions(flags)
      )
    ).pipe(Command.withDescription("Remove rules that were written at the gate; agents ask again"))
  ])
)

export const worktree = Command.make("worktree").pipe(
  Command.withDescription("List and remove the git worktrees of runs"),
  Command.withSubcommands([
    Command.make(
      "list",
      { json: jsonFlag, nats: natsFlag },
      lazily(
        () => import("../flows/repository/worktrees.ts"),
        (module, flags) => module.listWorktreeRows(flags)
      )
    ).pipe(Command.withDescription("List the worktrees that Reprise made, with their branches and runs")),
    Command.make(
      "remove",
      {
        worktree: Argument.String("WORKTREE").pipe(
          Argument.withDescription("Name, run, branch or path of the worktree")
        ),
        force: switchFlag("force", "Discard its uncommitted changes"),
        json: jsonFlag,
        nats: natsFlag
      },
      lazily(
        () => import("../flows/repository/worktrees.ts"),
        (module, flags) => module.removeWorktreeRow(flags)
      )
    ).pipe(Command.withDescription("Remove a worktree; its branch stays"))
  ])
)

const promptArgument = Argument.String("NAME").pipe(
  Argument.withDescription("Name of a prompt; see 'reprise prompts list'")
)

export const prompts = Command.make("prompts").pipe(
  Command.withDescription("Show and override agent prompts"),
  Command.withSubcommands([
    Command.make(
      "list",
      { json: jsonFlag },
      lazily(
        () => import("../flows/repository/promptCommands.ts"),
        (module, flags) => module.listPrompts(flags)
      )
    ).pipe(Command.withDescription("List the prompts, when each is sent and which are your own")),
    Command.make(
      "show",
      { name: promptArgument, json: jsonFlag },
      lazily(
        () => import("../flows/repository/promptCommands.ts"),
        (module, flags) => module.showPrompt(flags)
      )
    ).pipe(Command.withDescription("Show a prompt and its variables")),
    Command.make(
      "eject",
      { name: promptArgument, json: jsonFlag },
      lazily(
        () => import("../flows/repository/promptCommands.ts"),
        (module, flags) => module.ejectPrompt(flags)
      )
    ).pipe(Command.withDescription("Write a prompt to .reprise/prompts for editing"))
  ])
)

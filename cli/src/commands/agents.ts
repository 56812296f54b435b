/** Commands about agents that speak the Agent Client Protocol. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { jsonFlag, lazily, modelFlag, switchFlag } from "./shared.ts"

const list = Command.make(
  "list",
  { json: jsonFlag },
  lazily(
    () => import("../flows/doctor/listAgents.ts"),
    (module, flags) => module.listAgents(flags)
  )
).pipe(Command.withDescription("List the known agents: how each is started, and whether it is installed"))

const probe = Command.make(
  "probe",
  {
    agent: Argument.String("AGENT").pipe(Argument.withDescription("A name of 'agents list', or acp:COMMAND")),
    model: modelFlag,
    yes: switchFlag("yes", "Do not ask before spending money").pipe(Flag.withAlias("y")),
    json: jsonFlag
  },
  lazily(
    () => import("../flows/doctor/probeAgents.ts"),
    (module, flags) => module.probe(flags)
  )
).pipe(
  Command.withDescription("Start an agent, prompt, kill, resume and cancel it, and report what it supports"),
  Command.withExamples([{ command: "reprise agents probe codex", description: "Asks before it spends anything" }])
)

export const agents = Command.make("agents").pipe(
  Command.withDescription("List and test agents that speak the Agent Client Protocol (experimental)"),
  Command.withSubcommands([list, probe])
)

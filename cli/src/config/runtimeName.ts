import { commandOf, commandProblem } from "@reprise/agent/acpCommand"
import { RuntimeName } from "@reprise/protocol"
import { Schema } from "effect"

/** The setting `runtime`. A command must be one that can be started without a shell, and the same from every folder. */
export const runtimeName = RuntimeName.check(
  Schema.makeFilter((name) => {
    const command = commandOf(name)
    return command === undefined || (commandProblem(command) ?? true)
  })
)

export const runtimeMeaning =
  "Agent runtime to use: opencode, claude, or acp:COMMAND for another agent that speaks the Agent Client Protocol, such as acp:opencode acp (experimental; its commands run outside of the sandbox)."

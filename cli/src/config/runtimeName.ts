import { acpPrefix, commandOf, commandProblem } from "@reprise/agent/acpCommand"
import { namedAgents } from "@reprise/agent/namedAgents"
import { RuntimeName } from "@reprise/protocol"
import { Schema, SchemaTransformation } from "effect"

/** A command must be one that can be started without a shell, and the same from every folder. */
const startable = RuntimeName.check(
  Schema.makeFilter((name) => {
    const command = commandOf(name)
    return command === undefined || (commandProblem(command) ?? true)
  })
)

/** An agent that is written by its name stands for its command, in all that follows. */
const byName = namedAgents.map(({ command, name }) => {
  const runtime = `${acpPrefix}${command}` as const
  return Schema.Literal(name).pipe(
    Schema.decodeTo(
      Schema.Literal(runtime),
      SchemaTransformation.transform({ decode: () => runtime, encode: () => name })
    )
  )
})

/** The setting `runtime`. */
export const runtimeName = Schema.Union([startable, ...byName])

const names = namedAgents.map(({ name }) => name)

export const runtimeMeaning = `Agent runtime to use: opencode, claude, or another agent that speaks the Agent Client Protocol (experimental), by its name (${names.join(", ")}) or by acp:COMMAND, such as acp:opencode acp.`

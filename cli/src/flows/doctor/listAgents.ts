/** `reprise agents list`: the agents that have a name. Nothing is started. */
import { installHint, locateAcp, type NamedAgent, namedAgents } from "@reprise/agent"
import { Effect } from "effect"
import { data, okJson } from "../../terminal/Printer.ts"
import { table } from "../../views/table.ts"

const described = Effect.fnUntraced(function* (agent: NamedAgent) {
  const { command, login, name, state } = agent
  const program = yield* locateAcp(command, process.env)
  const installed = program === undefined ? {} : { program }
  const sandbox = "as a whole" as const
  return { name, runtime: `acp:${command}`, state, sandbox, ...installed, login, install: installHint(agent) }
})

export const listAgents = Effect.fn("listAgents")(function* ({ json }: { readonly json: boolean }) {
  const agents = yield* Effect.forEach(namedAgents, described)
  if (json) return okJson(agents)
  const rows = agents.map(({ install, login, name, program, runtime, sandbox, state }) => [
    name,
    runtime,
    state,
    sandbox,
    program ?? `no: ${install}`,
    login
  ])
  data(table(["name", "runtime", "with Reprise", "in the sandbox", "installed", "login"], rows))
})

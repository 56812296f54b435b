/**
 * A program that runs an agent as a whole in the sandbox of a workspace, with its standard input and output. For agents whose
 * commands nobody but themselves starts (docs/design/workspace.md#sandbox).
 */
import { mkdir } from "node:fs/promises"
import { connect } from "node:net"
import { dirname, join } from "node:path"
import { Effect } from "effect"
import { splitLocal } from "../network/hosts.ts"
import { filterConnection } from "../network/proxyFilter.ts"
import type { OwnPlaces } from "../policy/policy.ts"
import type { PreparedAgent } from "../refused/agentWrites.ts"
import {
  agentKeyOf,
  digest,
  type Held,
  type Host,
  keepingFor,
  keyOf,
  ofAgents,
  onDisk,
  programPaths,
  programsOf,
  settled,
  writeProgram
} from "../SandboxHost.ts"
import type { Bubblewrap } from "./bubblewrap.ts"
import { asFault, failedToListen } from "./preparedPrograms.ts"
import { agentProgramText } from "./shellScript.ts"

export interface SandboxedAgent extends PreparedAgent {
  /** Names of this machine, such as `localhost:11434`, need a port. */
  readonly own: OwnPlaces
  /** Patterns of the names of variables that it needs although they look like secrets. */
  readonly variables: ReadonlyArray<string>
}

const filterFor = (host: Host, key: string, { policy: { workspace } }: Held) => {
  const opening = {
    names: () => host.policies.get(key)?.policy.network ?? [],
    decider: () => host.deciders.get(keyOf("agent", workspace))?.at(-1),
    proxy: (names: ReadonlyArray<string>) => host.run(Effect.map(host.proxyFor(names), ({ socket }) => socket))
  }
  return host.socketFor(`filter ${key}`, { receive: (client) => filterConnection(client, opening) })
}

const leadTo = (host: Host, port: number) =>
  host.socketFor(`port ${port}`, {
    receive: (client) => {
      const target = connect(port, "localhost")
      target.once("error", () => client.destroy())
      client.once("close", () => target.destroy())
      client.pipe(target)
      target.pipe(client)
    }
  })

const textFor = Effect.fnUntraced(function* (host: Host, bubblewrap: Bubblewrap, agent: SandboxedAgent) {
  const { directory, name, own, role, variables } = agent
  const { names, ports } = splitLocal(own.network)
  yield* onDisk(directory, async () => {
    // What does not exist, the agent could make as a link.
    const folders = [...own.write, ...[...own.kept, ...own.apart].map((path) => dirname(path))]
    for (const folder of new Set(folders)) await mkdir(folder, { recursive: true, mode: 0o700 })
  })
  const held = yield* settled(host, directory, role, ofAgents, { ...own, network: names })
  const { policy } = held
  yield* onDisk(directory, async () => {
    for (const { from } of policy.mounts) if (from !== undefined) await mkdir(from, { recursive: true, mode: 0o700 })
  })
  const key = agentKeyOf(name, role, policy.workspace)
  const access = yield* host.proxyFor(policy.network)
  host.policies.set(key, held)
  const { filter, local } = yield* Effect.tryPromise({
    try: async () => ({
      filter: await filterFor(host, key, held),
      local: await Promise.all(ports.map(async (port) => ({ port, socket: await leadTo(host, port) })))
    }),
    catch: failedToListen
  })
  return agentProgramText({
    policy,
    keeping: yield* keepingFor(host, directory, policy),
    bubblewrap,
    proxy: { ...access, socket: filter },
    ports: local,
    programs: programPaths(host),
    variables
  })
})

/** The path of a program that takes the agent's command as its words. */
export const agentProgram = Effect.fn("Sandbox.agentProgram")(function* (
  host: Host,
  bubblewrap: Bubblewrap,
  agent: SandboxedAgent
) {
  const { directory, name, role } = agent
  const path = join(programsOf(host), digest(directory), `agent-${digest(name)}-${role}`)
  const text = yield* textFor(host, bubblewrap, agent).pipe(Effect.catchTag("ProxyFailed", asFault(directory)))
  yield* onDisk(directory, () => writeProgram(path, text))
  return path
})

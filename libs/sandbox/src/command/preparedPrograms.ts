/** The programs that stand in for a shell, for those who work in a directory under a policy. */

import type { Role } from "@reprise/protocol"
import { Effect } from "effect"
import { ProxyFailed } from "../network/proxy.ts"
import { filterConnection } from "../network/proxyFilter.ts"
import type { Whose } from "../refused/decider.ts"
import { attend } from "../refused/refusalReports.ts"
import { lookAtRefused } from "../refused/refusedWrites.ts"
import {
  type CommandsOf,
  gitOfCommands,
  type Held,
  type Host,
  heardFolder,
  keepingFor,
  keyOf,
  ofAgents,
  onDisk,
  programPaths,
  putAsideNested,
  SandboxFault,
  settled
} from "../SandboxHost.ts"
import { seatbeltShell } from "./seatbelt.ts"
import { sandboxedShell } from "./shellScript.ts"

export const failedToListen = (cause: unknown) => new ProxyFailed({ cause })

/** Where the commands of a workspace knock to reach a name, and where it is told what they were refused to write. */
const socketsFor = (host: Host, whose: Whose, { policy: { workspace } }: Held, proxied: boolean) => {
  const key = keyOf(whose, workspace)
  const decider = () => host.deciders.get(key)?.at(-1)
  const proxy = (names: ReadonlyArray<string>) => host.run(Effect.map(host.proxyFor(names), ({ socket }) => socket))
  const opening = {
    names: () => host.policies.get(key)?.policy.network ?? [],
    decider,
    ...(proxied ? { proxy } : {})
  }
  const look = async (path: string) => {
    const held = host.policies.get(key)
    return held === undefined ? undefined : await lookAtRefused(path, held.policy, held.around)
  }
  const aside = () => host.run(putAsideNested(host, workspace))
  return Effect.tryPromise({
    try: async () => ({
      filter: await host.socketFor(`${proxied ? "filter" : "closed filter"} ${key}`, {
        receive: (client) => filterConnection(client, opening)
      }),
      reports: await host.socketFor(`reports ${key}`, {
        receive: (client) => attend(client, { look, decider, putAsideNested: aside }),
        afterEnd: true
      })
    }),
    catch: failedToListen
  })
}

const textFor = Effect.fnUntraced(function* (host: Host, directory: string, role: Role, of: CommandsOf, held: Held) {
  const { policy } = held
  const { whose } = of
  const isGate = whose === "gate"
  const programs = programPaths(host, of.whose === "gate" ? of.inTree : undefined)
  const { bubblewrap, shell: own } = host.programs
  const shell = isGate ? "/bin/sh" : own
  if (bubblewrap === undefined) {
    return yield* onDisk(directory, async () => {
      const git = await gitOfCommands(host, directory, whose, held)
      const ahead = git === undefined ? {} : { ahead: git }
      return await seatbeltShell({ policy, shell, programs, chosenEnvironment: isGate, ...ahead })
    })
  }
  // Of an author's command a human may allow any name.
  const proxied = policy.network.length > 0 || (role === "author" && !isGate)
  const access = proxied ? yield* host.proxyFor(policy.network) : { username: "srt", password: "" }
  host.policies.set(keyOf(whose, policy.workspace), held)
  const { reports, filter } = yield* socketsFor(host, whose, held, proxied)
  return sandboxedShell({
    policy,
    keeping: yield* keepingFor(host, directory, policy),
    shell,
    bubblewrap,
    chosenEnvironment: isGate,
    proxy: { ...access, socket: filter },
    reports: { socket: reports, folder: heardFolder(host) },
    dependencies: host.nested.dependenciesFile(policy.workspace),
    looked: host.nested.lookedFile(policy.workspace),
    programs
  })
})

/** What the program of a directory needs failed. */
export const asFault = (directory: string) => (cause: ProxyFailed) =>
  Effect.fail(new SandboxFault({ directory, cause }))

/** The program of a directory for whoever works there under a policy. */
export const preparedFor = (host: Host, directory: string, role: Role, held: Held, of: CommandsOf = ofAgents) =>
  textFor(host, directory, role, of, held).pipe(Effect.catchTag("ProxyFailed", asFault(directory)))

export const prepared = (host: Host, directory: string, role: Role, of: CommandsOf = ofAgents) =>
  Effect.flatMap(settled(host, directory, role, of), (held) => preparedFor(host, directory, role, held, of))

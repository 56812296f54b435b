/** What the sandbox of one process knows, and how the programs that enter it are prepared. */
import { createHash } from "node:crypto"
import { chmod, mkdir, realpath } from "node:fs/promises"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { hasCode, type OfTree, ofTree, replaceFile, splitPath, withoutPlaces } from "@reprise/process"
import type { Role, RunId } from "@reprise/protocol"
import { Effect, Schema } from "effect"
import {
  agentCaches,
  type CachesOf,
  cachesInside,
  gateCaches,
  makeAgentCaches,
  makeAnew,
  makeGateCaches,
  writtenIn
} from "./caches/cacheFolders.ts"
import type { ClonedDirectory, CloneOf } from "./clone/clonePlaces.ts"
import { followRepository, placeClone, readyClone } from "./clone/clones.ts"
import type { Engine } from "./command/engine.ts"
import type { Keeping } from "./command/keepNames.ts"
import { seatbeltGit } from "./command/seatbelt.ts"
import type { ProgramPaths } from "./command/shellScript.ts"
import type { Programs } from "./command/usability.ts"
import { realOf } from "./disk/pathsOnDisk.ts"
import { type Environment, gitRepositoryOf, homeOf } from "./git/askGit.ts"
import { gitDirectoriesOf } from "./git/gitDirectories.ts"
import { placesInTree, relativeHooksOf } from "./git/gitPlaces.ts"
import { openGit, redirectingGit, sandboxedGit } from "./git/gitProgram.ts"
import type { NestedWatch } from "./nested/NestedWatch.ts"
import type { Place } from "./nested/treeSearch.ts"
import type { makeProxy } from "./network/proxy.ts"
import type { makeSockets } from "./network/sockets.ts"
import { foldingFolder, whyFoldingIsRefused } from "./policy/caseFolding.ts"
import { requireClearPaths } from "./policy/clearPaths.ts"
import { requireFewToKeep } from "./policy/keptLimits.ts"
import { isWithin } from "./policy/mounts.ts"
import { makeOwnFolders } from "./policy/ownFolders.ts"
import { type OwnPlaces, type Policy, policyFor, type SandboxSettings } from "./policy/policy.ts"
import { type Around, lookAround, placeOf } from "./policy/surroundings.ts"
import type { Decider, Whose } from "./refused/decider.ts"
import { attendFolders } from "./replaced/folderKeeper.ts"
import { holdFiles } from "./replaced/heldFiles.ts"
import { holdFolders, type Replaced } from "./replaced/heldFolders.ts"
import { tellReplaced } from "./replaced/tellReplaced.ts"

export class SandboxFault extends Schema.TaggedError<SandboxFault>()("SandboxFault", {
  directory: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    const cause = this.cause instanceof Error ? this.cause.message : String(this.cause)
    return `The sandbox for ${this.directory} could not be prepared: ${cause}`
  }
}

/** `auto`: used where it can be, except for agents that may do everything. */
export type SandboxMode = "auto" | "required" | "off"

export interface SandboxOptions {
  readonly mode: SandboxMode
  readonly settings: SandboxSettings
  /** Whether quality gates and the commands for a new worktree run in it. */
  readonly gates: boolean
  /** Absolute path of `.reprise`; its folder `sandbox` is this module's. */
  readonly stateDirectory: string
  /** Only to tell what holds: nothing is written or removed. */
  readonly visiting?: boolean
  /** Where a human has allowed authors' commands and quality gates to write for good. Default: nowhere. */
  readonly opened?: Effect.Effect<ReadonlyArray<string>>
  /** Default: this process's. */
  readonly environment?: Readonly<Record<string, string | undefined>>
}

export interface Host {
  readonly options: SandboxOptions
  readonly environment: Environment
  /** Of this process alone. */
  readonly folder: string
  readonly engine: Engine
  readonly programs: Programs
  readonly proxyFor: Effect.Success<ReturnType<typeof makeProxy>>
  readonly nested: NestedWatch
  /** From now on programs of commands that are killed are noticed. */
  readonly noticeKilled: Effect.Effect<void>
  /** For what a socket asks for: with the logs of this process. */
  readonly run: <A, E>(effect: Effect.Effect<A, E>) => Promise<A>
  /** Where commands connect to the filter, and their programs send reports. */
  readonly socketFor: Effect.Success<typeof makeSockets>
  /** What holds now, by whose commands in which workspace. */
  readonly policies: Map<string, Held>
  /** Who decides about what is refused, by the same key, the newest last. */
  readonly deciders: Map<string, ReadonlyArray<Decider>>
  /** What agents' commands in a workspace may write in for now. */
  readonly opened: Map<string, ReadonlyArray<string>>
}

/** A policy, and what was seen when it was made. */
export interface Held {
  readonly policy: Policy
  readonly around: Around
  /** Git directories of which commands have a clone. */
  readonly cloned: ReadonlyArray<ClonedDirectory>
}

export const onDisk = <A>(directory: string, run: () => Promise<A>) =>
  Effect.tryPromise({ try: run, catch: (cause) => new SandboxFault({ directory, cause }) })

/** Where caches and refused files of all processes are. */
export const sharedFolder = ({ stateDirectory }: SandboxOptions) => join(stateDirectory, "sandbox")
/** Programs that agents' programs and gates are started with. No command sees them. */
export const programsOf = ({ folder }: Host) => join(folder, "programs")

/** `inTree`: for a quality gate, which does not get all of it. */
export const programPaths = (host: Host, inTree = ofTree(host.environment)): ProgramPaths => ({
  own: programsOf(host),
  outside: host.environment["PATH"] ?? "",
  inTree
})

/** The user's `PATH` without the repository's folders, which its commands are to write. */
const userPath = ({ environment = process.env, stateDirectory }: SandboxOptions): string =>
  splitPath(environment["PATH"] ?? "", [dirname(stateDirectory)]).outside

/** The user's, but that what a command can have written is no program of this machine. */
export const environmentFor = (options: SandboxOptions): Environment => {
  const { environment = process.env, settings, stateDirectory } = options
  const at = { home: homeOf(environment), workspace: dirname(stateDirectory) }
  const written = settings.write.map((path) => placeOf(path, at))
  return {
    ...withoutPlaces(environment, [dirname(stateDirectory), ...written]),
    PATH: splitPath(userPath(options), written).outside
  }
}

export const placesOf = ({ folder }: Host) => join(folder, "places")
/** What commands said, while they run. No command sees it. */
export const heardFolder = ({ folder }: Host) => join(folder, "heard")

export const digest = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 16)

/** Programs are replaced in one step: a shell that reads the old one goes on with it. */
export const writeProgram = (path: string, text: string) =>
  replaceFile(path, text, { mode: 0o700 }).then(() => chmod(path, 0o700))

const treeOf = async (host: Host, workspace: string): Promise<Place> => {
  const { environment, options } = host
  const git = await gitRepositoryOf(workspace, environment)
  return {
    workspace,
    stateDirectory: options.stateDirectory,
    search: environment["PATH"] ?? "",
    git: git === undefined ? undefined : { ...git, ...(await gitDirectoriesOf(git)) },
    hooks: git === undefined ? [] : await relativeHooksOf(git, environment),
    namedIn: async (tree) => (git === undefined ? [] : await placesInTree(git, environment, tree))
  }
}

/** The user's own tree of the repository, for a worktree in the folder of the state. Undefined: there is none, or it is this one. */
const madeFrom = (host: Host, workspace: string) =>
  onDisk(workspace, async () => {
    const { stateDirectory } = host.options
    const own = await realpath(dirname(stateDirectory))
    if (!isWithin(workspace, await realpath(stateDirectory))) return undefined
    const [there, here] = await Promise.all([own, workspace].map((one) => gitRepositoryOf(one, host.environment)))
    return there !== undefined && there.common === here?.common ? await treeOf(host, own) : undefined
  })

/** Puts aside repositories with a configuration of their own that commands have made, says so, and gives the sentences. */
export const putAsideNested = (host: Host, directory: string) =>
  onDisk(directory, () =>
    realpath(directory).catch((error) => (hasCode(error, "ENOENT") ? undefined : Promise.reject(error)))
  ).pipe(
    Effect.flatMap((workspace) =>
      workspace === undefined
        ? Effect.succeed([])
        : host.nested.check(
            workspace,
            onDisk(directory, () => treeOf(host, workspace)),
            madeFrom(host, workspace)
          )
    ),
    Effect.tap((sentences) => Effect.forEach(sentences, (sentence) => Effect.logWarning(sentence), { discard: true })),
    Effect.mapError((cause) => (cause instanceof SandboxFault ? cause : new SandboxFault({ directory, cause })))
  )

/** Bubblewrap needs them to exist. */
const makeFolders = async (...folders: ReadonlyArray<string>) => {
  for (const folder of folders) await mkdir(folder, { recursive: true, mode: 0o700 })
}

/** Seatbelt's profile cannot show what lies in a folder that is hidden in a workspace, such as `.reprise`. */
const ownPlaces = ({ engine, folder, options: { stateDirectory } }: Host) =>
  engine === "seatbelt" ? join(realOf(tmpdir()) ?? tmpdir(), `reprise-sandbox-${digest(stateDirectory)}`) : folder

/** Commands of agents, or the quality gates of a run. */
export type CommandsOf =
  /** `reviews`: only reviewers work there. Default: as the role says. */
  | { readonly whose: "agent"; readonly reviews?: boolean }
  | { readonly whose: "gate"; readonly run: RunId; readonly inTree: OfTree }

export const noneOfTree: OfTree = { path: "", variables: {} }

export const ofAgents: CommandsOf = { whose: "agent" }

/** The caches of all workspaces. */
export const cachesFolder = (host: Host) =>
  join(host.engine === "seatbelt" ? ownPlaces(host) : writtenIn(sharedFolder(host.options)), "caches")

/**
 * Where commands find a folder of their own for `/tmp` and for packages. An agent's stay for its next command. A quality gate
 * finds nothing that an agent's command wrote, and of another gate only the packages, if it is of the same run.
 */
const placesFor = async (host: Host, directory: string, of: CommandsOf) => {
  const { visiting = false } = host.options
  const folder = cachesFolder(host)
  const workspace = await realpath(directory)
  const ofWorkspace: CachesOf = { folder, id: digest(workspace), workspace }
  const own = of.whose === "agent" ? agentCaches(ofWorkspace) : gateCaches(ofWorkspace, of.run)
  const suffix = of.whose === "agent" ? "" : "-gate"
  const temporary = join(writtenIn(ownPlaces(host)), "temporary", `${digest(directory)}${suffix}`)
  const refused = join(sharedFolder(host.options), "refused")
  if (!visiting) {
    await makeFolders(folder, refused, heardFolder(host))
    if (of.whose === "agent") await Promise.all([makeFolders(temporary), makeAgentCaches(ofWorkspace)])
    else await Promise.all([makeAnew(temporary), makeGateCaches(ofWorkspace, of.run)])
  }
  // Tools write down where they found a package: where folders can be mounted, it is the same place for agents and gates.
  const caches =
    host.engine === "seatbelt" ? { caches: own } : { caches: cachesInside(sharedFolder(host.options)), cachesFrom: own }
  return { temporary, refused, ...caches }
}

/** What keeps protected files and folders as they are while commands run under a policy. */
export const keepingFor = Effect.fnUntraced(function* (host: Host, directory: string, policy: Policy) {
  const folder = heardFolder(host)
  const refused = join(sharedFolder(host.options), "refused")
  const tell = (replaced: ReadonlyArray<Replaced>) => host.run(tellReplaced(replaced))
  yield* host.noticeKilled
  return yield* onDisk(
    directory,
    async (): Promise<Keeping> => ({
      folder,
      files: await holdFiles(folder, policy),
      folders: await holdFolders(folder, policy),
      keeper: await host.socketFor("folders", {
        receive: (client) => attendFolders(client, { folder, refused, tell }),
        afterEnd: true
      })
    })
  )
})

const refuseFolding = async ({ engine }: Host, { mounts, workspace }: Policy) => {
  const folder =
    engine === "bubblewrap" ? await foldingFolder([workspace, ...mounts.map(({ path }) => path)]) : undefined
  if (folder !== undefined) throw new Error(whyFoldingIsRefused(folder))
}

export const clonesFolder = (host: Host) =>
  join(host.engine === "seatbelt" ? ownPlaces(host) : writtenIn(sharedFolder(host.options)), "clones")

/** Undefined: commands see the repository's git directory itself, and cannot write it: whatever they run, it shows them what is there. */
const cloneFor = (role: Role, of: CommandsOf): CloneOf | undefined => {
  if (of.whose === "gate") return "gate"
  return (of.reviews ?? role === "reviewer") ? undefined : "agent"
}

/** Ready for commands, but that an agent's may be behind the repository. */
const clonePlaced = Effect.fnUntraced(function* (host: Host, directory: string, kind: CloneOf | undefined) {
  if (kind === undefined) return undefined
  const placed = yield* onDisk(directory, async () => {
    const workspace = await realpath(directory)
    const git = await gitRepositoryOf(workspace, host.environment)
    return git === undefined
      ? undefined
      : {
          git,
          ...(await placeClone(clonesFolder(host), git, { engine: host.engine, id: digest(workspace), of: kind }))
        }
  })
  if (placed !== undefined && host.options.visiting !== true)
    yield* Effect.mapError(
      readyClone(placed.git, placed, host.environment),
      (cause) => new SandboxFault({ directory, cause })
    )
  return placed
})

/** What a human allowed for good holds for quality gates too, which run as an author's commands; what holds for a turn does not. */
export const settled = Effect.fnUntraced(function* (
  host: Host,
  directory: string,
  role: Role,
  of: CommandsOf = ofAgents,
  own?: OwnPlaces
) {
  const always = yield* host.options.opened ?? Effect.succeed<ReadonlyArray<string>>([])
  const placed = yield* clonePlaced(host, directory, cloneFor(role, of))
  const held = yield* onDisk(directory, async (): Promise<Held> => {
    const { settings, stateDirectory } = host.options
    const { environment } = host
    const home = homeOf(environment)
    const places = await placesFor(host, directory, of)
    const searched = userPath(host.options).split(delimiter)
    const apart = join(writtenIn(ownPlaces(host)), "apart", `${digest(directory)}-${role}`)
    const clone = placed === undefined ? {} : { clone: placed.mounts }
    const where = { workspace: directory, stateDirectory, home, environment, searched, apart, ...places, ...clone }
    const workspace = await realpath(directory)
    const forNow = of.whose === "agent" ? (host.opened.get(workspace) ?? []) : []
    const wished = role === "author" ? [...always, ...forNow] : []
    if (host.options.visiting !== true) {
      const written = [workspace, ...settings.write.map((path) => placeOf(path, { home, workspace })), ...wished]
      await makeOwnFolders(environment, home, written)
    }
    const around = await lookAround(where, settings, { wished, ...(own === undefined ? {} : { own }) })
    const policy = policyFor(around, settings, role)
    requireClearPaths(policy)
    requireFewToKeep(policy)
    await refuseFolding(host, policy)
    return { policy, around, cloned: placed?.directories ?? [] }
  })
  if (placed?.clone.of === "agent" && host.options.visiting !== true)
    yield* Effect.mapError(
      followRepository(placed.git, placed, gitInside(host, directory, held), host.environment),
      (cause) => (cause instanceof SandboxFault ? cause : new SandboxFault({ directory, cause }))
    )
  return held
})

/** The program that runs git in the sandbox of a directory, where it writes into the clone alone. */
export const gitInside = (host: Host, directory: string, held: Held) => {
  const path = join(programsOf(host), digest(directory), "git-in-clone")
  const clone = held.cloned[0]?.to
  return onDisk(directory, async () => {
    const text =
      host.engine === "seatbelt" && clone !== undefined
        ? await seatbeltGit(host.programs.git, held.policy, clone)
        : gitUnder(host, held, "writes")
    await writeProgram(path, text)
    return path
  })
}

/** Where no mount shows commands their clone: a folder before their `PATH` with a git that goes there. */
export const gitOfCommands = async (host: Host, directory: string, whose: Whose, { cloned }: Held) => {
  if (host.engine !== "seatbelt" || cloned.length === 0) return undefined
  const folder = join(ownPlaces(host), "path", `${digest(directory)}-${whose}`)
  await writeProgram(join(folder, "git"), redirectingGit(host.programs.git, cloned))
  return folder
}

/** Of an agent that runs inside as a whole. */
export const agentKeyOf = (name: string, role: Role, workspace: string) => `${name} ${role} ${workspace}`

export const keyOf = (whose: Whose, workspace: string) => `${whose} ${workspace}`

/** Those of agents in a workspace and of their commands. */
export const agentPoliciesIn = ({ policies }: Host, workspace: string): ReadonlyArray<Policy> =>
  [...policies].flatMap(([key, { policy }]) =>
    policy.workspace === workspace && key !== keyOf("gate", workspace) ? [policy] : []
  )

/** What was seen for agents' commands, for a role. Undefined: nothing was, or they could write where a human let them. */
export const heldBefore = ({ options: { settings }, policies }: Host, directory: string, role: Role) =>
  onDisk(directory, async (): Promise<Held | undefined> => {
    const before = policies.get(keyOf("agent", await realpath(directory)))
    return before === undefined || before.around.hasOpened
      ? undefined
      : { ...before, policy: policyFor(before.around, settings, role) }
  })

/** The git of an agent's program in a directory, for what is no query. */
export const gitUnder = (host: Host, { policy }: Held, clone: "writes" | "reads" = "reads"): string => {
  const { bubblewrap, git } = host.programs
  return bubblewrap === undefined ? openGit(git) : sandboxedGit(git, bubblewrap, policy, clone)
}

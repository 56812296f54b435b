/**
 * The sandbox of this host, for everything that runs commands of agents or of a repository
 * (docs/design/workspace.md#sandbox).
 */
import { realpath, rm } from "node:fs/promises"
import { dirname, join } from "node:path"
import { loadedFromTree, type OfTree, removeForeign } from "@reprise/process"
import type { PermissionMode, Role, RunId } from "@reprise/protocol"
import { Context, Effect, Layer, Scope, Semaphore } from "effect"
import { cachesInside, removeUnusedCaches } from "./caches/cacheFolders.ts"
import { removeUnusedClones } from "./clone/clones.ts"
import { forgetClone, takeIn } from "./clone/takeIn.ts"
import { agentProgram, type SandboxedAgent } from "./command/agentProgram.ts"
import type { EngineHere } from "./command/engine.ts"
import { type KilledCommand, noticeKilledCommands } from "./command/killedCommands.ts"
import { prepared, preparedFor } from "./command/preparedPrograms.ts"
import { dispatchingShell, openShell } from "./command/shellScript.ts"
import { findUsability } from "./command/usability.ts"
import { type Environment, homeOf } from "./git/askGit.ts"
import { dispatchingGit, gitFor, openGit, placedGit } from "./git/gitProgram.ts"
import { markOf, ownFolder } from "./hostFolder.ts"
import { makeNestedWatch } from "./nested/NestedWatch.ts"
import { makeTurns } from "./nested/turns.ts"
import { makeProxy } from "./network/proxy.ts"
import { makeSockets } from "./network/sockets.ts"
import { foldingFolder, whyFoldingIsRefused } from "./policy/caseFolding.ts"
import { credentialPaths } from "./policy/credentials.ts"
import type { Policy } from "./policy/policy.ts"
import { protectedPaths } from "./policy/protectedPaths.ts"
import { openedByWords, type PreparedAgent, type ToolWords } from "./refused/agentWrites.ts"
import type { Decider, Whose } from "./refused/decider.ts"
import { putAsideLeft } from "./replaced/leftovers.ts"
import { tellReplaced } from "./replaced/tellReplaced.ts"
import {
  agentPoliciesIn,
  type CommandsOf,
  cachesFolder,
  clonesFolder,
  digest,
  environmentFor,
  gitUnder,
  type Host,
  heardFolder,
  heldBefore,
  keyOf,
  noneOfTree,
  onDisk,
  placesOf,
  programPaths,
  programsOf,
  putAsideNested,
  type SandboxFault,
  type SandboxOptions,
  settled,
  sharedFolder,
  writeProgram
} from "./SandboxHost.ts"
import { tidy } from "./tidy.ts"

export type Standing =
  | ({ readonly _tag: "used" } & EngineHere)
  | { readonly _tag: "off" }
  /** `reason`: a sentence with what to install. */
  | { readonly _tag: "unusable"; readonly reason: string }

/** One that works in a directory, for as long as its scope is open. */
export interface Occupant {
  readonly directory: string
  /** Absent: that of a human, or not known; it reaches nothing. */
  readonly role?: Role
  readonly permissions: PermissionMode
}

/** Absolute paths. */
export interface AgentPrograms {
  readonly shell: string
  /** A folder. */
  readonly git: string
}

export interface SandboxShape {
  readonly standing: Standing
  /** Whether the commands of an agent with these permissions run in it. */
  readonly covers: (permissions: PermissionMode) => boolean
  /** Whether commands in a directory run in it now, whoever runs them. */
  readonly guards: (directory: string) => boolean
  readonly coversGates: boolean
  /** A program that takes `-c COMMAND` as a shell does, and runs an agent's command in the sandbox of a directory. */
  readonly shellFor: (directory: string, role: Role) => Effect.Effect<string, SandboxFault>
  /**
   * The same for one quality gate of a run, which gets the variables that it is started with, and `inTree`, which only it may
   * have. `/tmp` is empty, and the caches hold the packages that earlier gates of the run fetched and built.
   */
  readonly gateShell: (directory: string, run: RunId, inTree?: OfTree) => Effect.Effect<string, SandboxFault>
  /** The same for a server of many sessions: what it runs follows who works now in the folder that `sessionFolder` names. */
  readonly serverShell: Effect.Effect<string, SandboxFault>
  /**
   * The same, and a folder with the `git` that the program of an agent finds, put before its `PATH`: outside of the sandbox it
   * answers queries alone, and runs everything else as a command of the directory that writes nothing.
   */
  readonly programsFor: (directory: string, role: Role) => Effect.Effect<AgentPrograms, SandboxFault>
  /** The same for a server of many sessions: the folder in which it starts git decides. */
  readonly serverGit: Effect.Effect<string, SandboxFault>
  /**
   * A program that runs the command of an agent as a whole in the sandbox of a directory, with its standard input and output.
   * Undefined: this machine's sandbox cannot.
   */
  readonly agentProgram: ((agent: SandboxedAgent) => Effect.Effect<string, SandboxFault>) | undefined
  /**
   * What a tool of such an agent said of files that it may not write is decided about as for a command. Gives the places that
   * were allowed: its mounts hold for its life, so it may write there from its next start on.
   */
  readonly openedByWords: (agent: PreparedAgent, said: ToolWords) => Effect.Effect<ReadonlyArray<string>>
  readonly occupy: (occupant: Occupant) => Effect.Effect<void, SandboxFault, Scope.Scope>
  /**
   * Until the scope closes, decides about names that commands in this directory want to reach and may not, and learns which
   * files they were refused to write. Of several the newest is asked. Where nobody is, all is refused.
   */
  readonly decide: (directory: string, decider: Decider, whose?: Whose) => Effect.Effect<void, never, Scope.Scope>
  /**
   * Until the scope closes, authors' commands in this directory may write there too. `place`: as a refused write names it; one
   * that is protected meanwhile stays as it is.
   */
  readonly open: (directory: string, place: string) => Effect.Effect<void, SandboxFault, Scope.Scope>
  /**
   * Takes what authors committed in a directory into its repository, where commands write a clone of it (`clone/clonePlaces.ts`). Gives
   * a sentence where that was not possible, such as when somebody else has moved the branch. It is done at the end of each turn; whoever
   * reads the repository after a process that was killed does it before.
   */
  readonly takeIn: (directory: string) => Effect.Effect<string | undefined, SandboxFault>
  /** Removes the clone that authors in a directory had, once nobody goes on there. */
  readonly forget: (directory: string) => Effect.Effect<void, SandboxFault>
  /**
   * Puts aside what killed commands left that nobody outside should obey or follow. Between turns this is done anyway; whoever
   * runs git in a directory after other commands does it before.
   */
  readonly tidy: (directory: string) => Effect.Effect<void, SandboxFault>
  /**
   * Files and folders that commands in a directory may not change, such as hooks that git's configuration names, whether they
   * exist or not, and also where no sandbox is used. Absolute. For those who write there outside of it.
   */
  readonly protectedPaths: (directory: string) => Effect.Effect<ReadonlyArray<string>, SandboxFault>
  /** What holds in a directory. */
  readonly policy: (directory: string, role: Role) => Effect.Effect<Policy, SandboxFault>
}

const notUsed = Effect.die(new Error("The sandbox is not used here."))

const unused = (standing: Standing, environment: Environment): SandboxShape => ({
  standing,
  covers: () => false,
  guards: () => false,
  coversGates: false,
  shellFor: () => notUsed,
  gateShell: () => notUsed,
  serverShell: notUsed,
  programsFor: () => notUsed,
  serverGit: notUsed,
  agentProgram: undefined,
  openedByWords: () => Effect.succeed([]),
  occupy: () => Effect.void,
  decide: () => Effect.void,
  open: () => Effect.void,
  takeIn: () => Effect.undefined,
  forget: () => Effect.void,
  tidy: () => Effect.void,
  protectedPaths: (directory) => protectedPaths(directory, environment),
  policy: () => notUsed
})

/** As at the end of a command that its program tells. */
const settleKilled = (host: Host, { record, workspace }: KilledCommand) =>
  onDisk(workspace ?? record, () => putAsideLeft(sharedFolder(host.options))).pipe(
    Effect.tap(tellReplaced),
    Effect.andThen(workspace === undefined ? Effect.void : Effect.asVoid(putAsideNested(host, workspace))),
    Effect.catch((fault) => Effect.logWarning(fault.message))
  )

/** The strictest of those who work in a directory decides for all of them; nobody: a reviewer. */
export const strictest = (
  occupants: ReadonlyArray<Occupant>,
  covers: SandboxShape["covers"]
): { readonly open: boolean; readonly role: Role; readonly reviews: boolean } => ({
  reviews: occupants.every(({ role }) => role === "reviewer"),
  open: occupants.length > 0 && occupants.every(({ permissions }) => !covers(permissions)),
  role: occupants.length > 0 && occupants.every(({ role }) => role === "author") ? "author" : "reviewer"
})

/** Keeps a value in the list of a workspace until the scope closes. */
const during = <A>(
  lists: Map<string, ReadonlyArray<A>>,
  directory: string,
  keyOf: (workspace: string) => string,
  it: A
) =>
  Effect.gen(function* () {
    const key = keyOf(yield* Effect.promise(() => realpath(directory).catch(() => directory)))
    const change = (to: (known: ReadonlyArray<A>) => ReadonlyArray<A>) =>
      Effect.sync(() => void lists.set(key, to(lists.get(key) ?? [])))
    yield* Effect.acquireRelease(
      change((known) => [...known, it]),
      () =>
        change((known) => {
          const at = known.lastIndexOf(it)
          return known.filter((_, index) => index !== at)
        })
    )
  })

const inUse = (host: Host, here: EngineHere): SandboxShape => {
  const { gates, mode } = host.options
  const { bubblewrap } = host.programs
  const covers = (permissions: PermissionMode) => mode === "required" || permissions !== "all"
  const occupants = new Set<Occupant>()
  const guarded = new Set<string>()
  const inTurn = makeTurns()
  const programs = programsOf(host)
  const place = (real: string, name = ".reprise-shell") => join(placesOf(host), real, name)

  /** Outside of the workspaces commands run only while every agent may do everything. */
  const settleElsewhere = onDisk("/", async () => {
    const { open } = strictest([...occupants], covers)
    if (open) await writeProgram(place("/"), openShell(host.programs.shell, programPaths(host)))
    else await rm(place("/"), { force: true })
  }).pipe(Semaphore.makeUnsafe(1).withPermits(1))

  /** `when`: what holds after a turn follows from what was seen before it, as it does for the turn's last command. */
  const settle = (directory: string, when: "now" | "after" = "now") =>
    Effect.gen(function* () {
      const { open, reviews, role } = strictest(
        [...occupants].filter((one) => one.directory === directory),
        covers
      )
      const of: CommandsOf = { whose: "agent", reviews }
      yield* tidy(host, directory)
      const before = when === "after" ? yield* heldBefore(host, directory, role) : undefined
      const held = open ? undefined : (before ?? (yield* settled(host, directory, role, of)))
      const text =
        held === undefined
          ? openShell(host.programs.shell, programPaths(host))
          : yield* preparedFor(host, directory, role, held, of)
      const gitText = held === undefined ? openGit(host.programs.git) : gitUnder(host, held)
      if (open) guarded.delete(directory)
      yield* onDisk(directory, async () => {
        const real = await realpath(directory)
        // What such an agent does is no part of what was seen before it.
        if (open) host.policies.delete(keyOf("agent", real))
        await writeProgram(place(real, placedGit), gitText)
        await writeProgram(place(real), text)
      })
      yield* settleElsewhere
      if (!open) guarded.add(directory)
    }).pipe(
      // What an earlier policy let commands do holds no longer: with no program they do not run.
      Effect.tapError(() =>
        Effect.promise(async () => {
          const real = await realpath(directory).catch(() => directory)
          host.policies.delete(keyOf("agent", real))
          for (const path of [place(real), place(real, placedGit)])
            await rm(path, { force: true }).catch(() => undefined)
        })
      )
    )

  const shellAt = Effect.fn("Sandbox.shellAt")(function* (
    directory: string,
    name: string,
    text: Effect.Effect<string, SandboxFault>
  ) {
    const path = join(programs, digest(directory), name)
    const program = yield* text
    yield* onDisk(directory, () => writeProgram(path, program))
    return path
  })

  return {
    standing: { _tag: "used", ...here },
    covers,
    guards: (directory) => guarded.has(directory),
    coversGates: gates,
    takeIn: (directory) => takeIn(host, directory),
    forget: (directory) => forgetClone(host, directory),
    tidy: (directory) => tidy(host, directory),
    protectedPaths: (directory) => protectedPaths(directory, host.environment, (at) => agentPoliciesIn(host, at)),
    policy: (directory, role) => Effect.map(settled(host, directory, role), ({ policy }) => policy),
    shellFor: (directory, role) =>
      Effect.andThen(tidy(host, directory), shellAt(directory, role, prepared(host, directory, role))),
    gateShell: (directory, run, inTree = noneOfTree) =>
      Effect.andThen(
        tidy(host, directory),
        shellAt(directory, "gate", prepared(host, directory, "author", { whose: "gate", run, inTree }))
      ),
    serverShell: Effect.suspend(() => {
      const path = join(programs, "shell")
      return onDisk(dirname(path), () => writeProgram(path, dispatchingShell(placesOf(host)))).pipe(Effect.as(path))
    }),
    programsFor: Effect.fn("Sandbox.programsFor")(function* (directory, role) {
      yield* tidy(host, directory)
      const held = yield* settled(host, directory, role)
      const shell = yield* shellAt(directory, role, preparedFor(host, directory, role, held))
      const inside = yield* shellAt(directory, `git-${role}`, Effect.succeed(gitUnder(host, held)))
      const git = gitFor(host.programs.git, inside)
      const path = yield* shellAt(directory, join(`path-${role}`, "git"), Effect.succeed(git))
      return { shell, git: dirname(path) }
    }),
    serverGit: Effect.suspend(() => {
      const path = join(programs, "path", "git")
      const text = dispatchingGit(host.programs.git, placesOf(host))
      return onDisk(dirname(path), () => writeProgram(path, text)).pipe(Effect.as(dirname(path)))
    }),
    openedByWords: (agent, said) => openedByWords(host, agent, said),
    agentProgram:
      bubblewrap === undefined
        ? undefined
        : (agent) => Effect.andThen(tidy(host, agent.directory), agentProgram(host, bubblewrap, agent)),
    decide: (directory, decider, whose = "agent") =>
      during(host.deciders, directory, (workspace) => keyOf(whose, workspace), decider),
    open: Effect.fn("Sandbox.open")(function* (directory, place) {
      const again = settle(directory).pipe(
        Effect.andThen(shellAt(directory, "author", prepared(host, directory, "author"))),
        inTurn(directory)
      )
      yield* Effect.addFinalizer(() => Effect.ignore(again))
      yield* during(host.opened, directory, (workspace) => workspace, place)
      yield* again
    }),
    occupy: Effect.fn("Sandbox.occupy")(function* (occupant) {
      yield* Effect.acquireRelease(
        Effect.sync(() => void occupants.add(occupant)),
        () =>
          Effect.gen(function* () {
            occupants.delete(occupant)
            yield* Effect.ignore(settle(occupant.directory, "after"))
          }).pipe(inTurn(occupant.directory))
      )
      yield* settle(occupant.directory).pipe(inTurn(occupant.directory))
    })
  }
}

/** Where a folder with something protected in it takes names in any case of letters. */
const foldingAround = ({ stateDirectory }: SandboxOptions, home: string) =>
  Effect.promise(async () => {
    const keys = credentialPaths.map((path) => join(home, path))
    return await foldingFolder([stateDirectory, join(dirname(stateDirectory), ".git", "HEAD"), ...keys])
  })

const make = Effect.fn("Sandbox.make")(function* (options: SandboxOptions) {
  const environment = environmentFor(options)
  if (options.mode === "off") return unused({ _tag: "off" }, environment)
  const usability = yield* findUsability(environment, { isRequired: options.mode === "required" })
  if (usability._tag === "unusable") return unused(usability, environment)
  const folding = usability.engine === "bubblewrap" ? yield* foldingAround(options, homeOf(environment)) : undefined
  if (folding !== undefined) return unused({ _tag: "unusable", reason: whyFoldingIsRefused(folding) }, environment)
  if (options.visiting !== true) yield* Effect.ignore(onDisk("/", () => putAsideLeft(sharedFolder(options))))
  const folder = yield* ownFolder(sharedFolder(options), options.visiting === true)
  const host: Host = {
    options,
    environment,
    folder,
    engine: usability.engine,
    programs: usability.programs,
    proxyFor: yield* makeProxy(markOf(folder)),
    socketFor: yield* makeSockets,
    run: Effect.runPromiseWith(yield* Effect.context<never>()),
    nested: yield* makeNestedWatch(join(sharedFolder(options), "nested"), join(sharedFolder(options), "refused")),
    noticeKilled: yield* Effect.cached(
      Effect.suspend(() => noticeKilledCommands(heardFolder(host), (killed) => settleKilled(host, killed))).pipe(
        Effect.provideService(Scope.Scope, yield* Effect.scope)
      )
    ),
    policies: new Map(),
    deciders: new Map(),
    opened: new Map()
  }
  if (options.visiting !== true) {
    const removing = [
      () => removeUnusedCaches(cachesFolder(host)),
      () => removeUnusedClones(clonesFolder(host)),
      () => removeForeign(cachesInside(sharedFolder(options)))
    ]
    for (const remove of removing) yield* Effect.forkScoped(Effect.ignore(onDisk("/", remove)))
  }
  const { canBeOutlived = false, engine, seesLaterMounts = false } = usability
  const loaded = loadedFromTree(environment, dirname(options.stateDirectory))
  return inUse(host, {
    engine,
    canBeOutlived,
    seesLaterMounts,
    ...(loaded.length === 0 ? {} : { loadedFromTree: loaded })
  })
})

/** Not used, unless a layer provides it. */
export const Sandbox = Context.Reference<SandboxShape>("@reprise/sandbox/Sandbox", {
  defaultValue: () => unused({ _tag: "off" }, process.env)
})

/** The sandbox of this process, until the scope closes. Fails nowhere: `standing` says why it is not used. */
export const layerSandbox = (options: SandboxOptions) => Layer.effect(Sandbox, make(options))

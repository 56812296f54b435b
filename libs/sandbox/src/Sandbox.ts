/**
 * The sandbox of this host, for everything that runs commands of agents or of a repository
 * (docs/design/workspace.md#sandbox).
 */
import { createHash } from "node:crypto"
import { chmod, mkdir, realpath, rm } from "node:fs/promises"
import { homedir, tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { replaceFile } from "@reprise/process"
import type { PermissionMode, Role } from "@reprise/protocol"
import { Context, Effect, Layer, Schema, type Scope, Semaphore } from "effect"
import type { Decider, Whose } from "./decider.ts"
import { attend } from "./desk.ts"
import { openDoor } from "./door.ts"
import type { Engine } from "./engine.ts"
import { gitPlacesOf, hooksOf } from "./gitPlaces.ts"
import { markOf, ownFolder } from "./hostFolder.ts"
import { putAsideLeft, putAsideLinks } from "./leftovers.ts"
import type { Bounds } from "./openPlaces.ts"
import { type Policy, policyFor, type SandboxSettings } from "./policy.ts"
import { makeProxy, ProxyFailed } from "./proxy.ts"
import { lookAtRefused, mayBeOpened } from "./refusedWrites.ts"
import { seatbeltShell } from "./seatbelt.ts"
import { dispatchingShell, openShell, type ProxyAccess, sandboxedShell } from "./shellScript.ts"
import { makeSockets } from "./sockets.ts"
import { closedPlaces, lookAround } from "./surroundings.ts"
import { findUsability, type Programs } from "./usability.ts"

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

export type Standing =
  | { readonly _tag: "used"; readonly engine: Engine }
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

export interface SandboxShape {
  readonly standing: Standing
  /** Whether the commands of an agent with these permissions run in it. */
  readonly covers: (permissions: PermissionMode) => boolean
  /** Whether commands in a directory run in it now, whoever runs them. */
  readonly guards: (directory: string) => boolean
  readonly coversGates: boolean
  /** A program that takes `-c COMMAND` as a shell does, and runs an agent's command in the sandbox of a directory. */
  readonly shellFor: (directory: string, role: Role) => Effect.Effect<string, SandboxFault>
  /** The same for a quality gate, which gets the variables that it is started with. */
  readonly gateShell: (directory: string) => Effect.Effect<string, SandboxFault>
  /** The same for a server of many sessions: what it runs follows who works now in the folder that `sessionFolder` names. */
  readonly serverShell: Effect.Effect<string, SandboxFault>
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
   * Puts aside what killed commands left that nobody outside should obey or follow. Between turns this is done anyway; whoever
   * runs git in a directory after other commands does it before.
   */
  readonly tidy: (directory: string) => Effect.Effect<void, SandboxFault>
  /** What holds in a directory. */
  readonly policy: (directory: string, role: Role) => Effect.Effect<Policy, SandboxFault>
}

const notUsed = Effect.die(new Error("The sandbox is not used here."))

const unused = (standing: Standing): SandboxShape => ({
  standing,
  covers: () => false,
  guards: () => false,
  coversGates: false,
  shellFor: () => notUsed,
  gateShell: () => notUsed,
  serverShell: notUsed,
  occupy: () => Effect.void,
  decide: () => Effect.void,
  open: () => Effect.void,
  tidy: () => Effect.void,
  policy: () => notUsed
})

interface Host {
  readonly options: SandboxOptions
  /** Of this process alone. */
  readonly folder: string
  readonly engine: Engine
  readonly programs: Programs
  readonly proxyFor: (names: ReadonlyArray<string>) => Effect.Effect<ProxyAccess, ProxyFailed>
  /** The doors and desks. */
  readonly socketFor: Effect.Success<typeof makeSockets>
  /** What holds now, by whose commands in which workspace. */
  readonly policies: Map<string, Held>
  /** Who decides about what is refused, by the same key, the newest last. */
  readonly deciders: Map<string, ReadonlyArray<Decider>>
  /** What agents' commands in a workspace may write in for now. */
  readonly opened: Map<string, ReadonlyArray<string>>
}

/** A policy, and what nobody may be asked about. */
interface Held {
  readonly policy: Policy
  readonly bounds: Bounds
}

const onDisk = <A>(directory: string, run: () => Promise<A>) =>
  Effect.tryPromise({ try: run, catch: (cause) => new SandboxFault({ directory, cause }) })

/** Where caches and refused files of all processes are. */
const sharedFolder = ({ stateDirectory }: SandboxOptions) => join(stateDirectory, "sandbox")
const placesOf = ({ folder }: Host) => join(folder, "places")
/** What commands said, while they run. No command sees it. */
const heardFolder = ({ folder }: Host) => join(folder, "heard")

const digest = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 16)

/** Programs are replaced in one step: a shell that reads the old one goes on with it. */
const writeProgram = (path: string, text: string) =>
  replaceFile(path, text, { mode: 0o700 }).then(() => chmod(path, 0o700))

/** Bubblewrap needs them to exist; missing hooks would be a folder that a command can make. */
const makeFolders = async (folders: ReadonlyArray<string>, directory: string) => {
  for (const folder of folders) await mkdir(folder, { recursive: true, mode: 0o700 })
  const hooks = hooksOf(await gitPlacesOf(directory))
  if (hooks !== undefined) await mkdir(hooks, { recursive: true })
}

const tidy = ({ options }: Host, directory: string) =>
  onDisk(directory, async () => {
    const folder = sharedFolder(options)
    await putAsideLeft(folder, "all")
    const git = await gitPlacesOf(directory)
    if (git !== undefined) await putAsideLinks(git.directories, join(folder, "refused"))
  })

/** Seatbelt's profile cannot show what lies in a folder that is hidden in a workspace, such as `.reprise`. */
const ownPlaces = ({ engine, folder, options: { stateDirectory } }: Host) =>
  engine === "seatbelt" ? join(tmpdir(), `reprise-sandbox-${digest(stateDirectory)}`) : folder

/** What a human allowed for good holds for quality gates too, which run as an author's commands; what holds for a turn does not. */
const settled = (host: Host, directory: string, role: Role, whose: Whose = "agent") =>
  Effect.flatMap(host.options.opened ?? Effect.succeed<ReadonlyArray<string>>([]), (always) =>
    onDisk(directory, async (): Promise<Held> => {
      const { environment = process.env, settings, stateDirectory, visiting = false } = host.options
      const temporary = join(ownPlaces(host), "temporary", digest(directory))
      const caches = join(host.engine === "seatbelt" ? ownPlaces(host) : sharedFolder(host.options), "caches")
      const refused = join(sharedFolder(host.options), "refused")
      if (!visiting) await makeFolders([temporary, caches, refused, heardFolder(host)], directory)
      const home = environment["HOME"] ?? homedir()
      const where = { workspace: directory, stateDirectory, home, environment, temporary, caches, refused }
      const around = await lookAround(where, settings)
      const bounds = { ...around, closed: await closedPlaces(where, settings, around.git) }
      const forNow = whose === "agent" ? (host.opened.get(around.workspace) ?? []) : []
      const wished = role === "author" ? [...always, ...forNow] : []
      const write = [...around.write]
      for (const place of new Set(wished)) if (await mayBeOpened(place, bounds)) write.push(place)
      return { policy: policyFor({ ...around, write }, settings, role), bounds }
    })
  )

const keyOf = (whose: Whose, workspace: string) => `${whose} ${workspace}`

const failedToListen = (cause: unknown) => new ProxyFailed({ cause })

/** Where the commands of a workspace knock to reach a name, and where it is told what they were refused to write. */
const socketsFor = (host: Host, whose: Whose, { policy: { workspace } }: Held, proxied: boolean) => {
  const key = keyOf(whose, workspace)
  const decider = () => host.deciders.get(key)?.at(-1)
  const proxy = (names: ReadonlyArray<string>) =>
    Effect.runPromise(Effect.map(host.proxyFor(names), ({ socket }) => socket))
  const opening = {
    names: () => host.policies.get(key)?.policy.network ?? [],
    decider,
    ...(proxied ? { proxy } : {})
  }
  const look = async (path: string) => {
    const held = host.policies.get(key)
    return held === undefined ? undefined : await lookAtRefused(path, held.policy, held.bounds)
  }
  return Effect.tryPromise({
    try: async () => ({
      door: await host.socketFor(`${proxied ? "door" : "closed door"} ${key}`, {
        receive: (client) => openDoor(client, opening)
      }),
      desk: await host.socketFor(`desk ${key}`, {
        receive: (client) => attend(client, { look, decider }),
        afterEnd: true
      })
    }),
    catch: failedToListen
  })
}

const textFor = Effect.fnUntraced(function* (host: Host, directory: string, role: Role, whose: Whose) {
  const held = yield* settled(host, directory, role, whose)
  const { policy } = held
  const isGate = whose === "gate"
  const { bubblewrap, shell: own } = host.programs
  const shell = isGate ? "/bin/sh" : own
  if (bubblewrap === undefined) {
    return yield* onDisk(directory, () => seatbeltShell({ policy, shell, chosenEnvironment: isGate }))
  }
  // Of an author's command a human may allow any name.
  const proxied = policy.network.length > 0 || (role === "author" && !isGate)
  const access = proxied ? yield* host.proxyFor(policy.network) : { username: "srt", password: "" }
  host.policies.set(keyOf(whose, policy.workspace), held)
  const { desk, door } = yield* socketsFor(host, whose, held, proxied)
  return sandboxedShell({
    policy,
    shell,
    bubblewrap,
    chosenEnvironment: isGate,
    proxy: { ...access, socket: door },
    desk: { socket: desk, folder: heardFolder(host) }
  })
})

const prepared = (host: Host, directory: string, role: Role, whose: Whose = "agent") =>
  textFor(host, directory, role, whose).pipe(
    Effect.catchTag("ProxyFailed", (cause) => Effect.fail(new SandboxFault({ directory, cause })))
  )

/** The strictest of those who work in a directory decides for all of them; nobody: a reviewer. */
export const strictest = (
  occupants: ReadonlyArray<Occupant>,
  covers: SandboxShape["covers"]
): { readonly open: boolean; readonly role: Role } => ({
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

const inUse = (host: Host): SandboxShape => {
  const { gates, mode } = host.options
  const covers = (permissions: PermissionMode) => mode === "required" || permissions !== "all"
  const occupants = new Set<Occupant>()
  const guarded = new Set<string>()
  const turnstile = Semaphore.makeUnsafe(1)
  const place = (real: string) => join(placesOf(host), real, ".reprise-shell")

  /** Outside of the workspaces commands run only while every agent may do everything. */
  const settleElsewhere = onDisk("/", async () => {
    const { open } = strictest([...occupants], covers)
    if (open) await writeProgram(place("/"), openShell(host.programs.shell))
    else await rm(place("/"), { force: true })
  })

  const settle = (directory: string) =>
    Effect.gen(function* () {
      const { open, role } = strictest(
        [...occupants].filter((one) => one.directory === directory),
        covers
      )
      yield* tidy(host, directory)
      const text = open ? openShell(host.programs.shell) : yield* prepared(host, directory, role)
      if (open) guarded.delete(directory)
      yield* onDisk(directory, async () => writeProgram(place(await realpath(directory)), text))
      yield* settleElsewhere
      if (!open) guarded.add(directory)
    })

  const shellAt = Effect.fn("Sandbox.shellAt")(function* (
    directory: string,
    name: string,
    text: Effect.Effect<string, SandboxFault>
  ) {
    const path = join(host.folder, "programs", digest(directory), name)
    const program = yield* text
    yield* onDisk(directory, () => writeProgram(path, program))
    return path
  })

  return {
    standing: { _tag: "used", engine: host.engine },
    covers,
    guards: (directory) => guarded.has(directory),
    coversGates: gates,
    tidy: (directory) => tidy(host, directory),
    policy: (directory, role) => Effect.map(settled(host, directory, role), ({ policy }) => policy),
    shellFor: (directory, role) => shellAt(directory, role, prepared(host, directory, role)),
    gateShell: (directory) =>
      Effect.andThen(tidy(host, directory), shellAt(directory, "gate", prepared(host, directory, "author", "gate"))),
    serverShell: Effect.suspend(() => {
      const path = join(host.folder, "programs", "shell")
      return onDisk(dirname(path), () => writeProgram(path, dispatchingShell(placesOf(host)))).pipe(Effect.as(path))
    }),
    decide: (directory, decider, whose = "agent") =>
      during(host.deciders, directory, (workspace) => keyOf(whose, workspace), decider),
    open: Effect.fn("Sandbox.open")(function* (directory, place) {
      const again = settle(directory).pipe(
        Effect.andThen(shellAt(directory, "author", prepared(host, directory, "author"))),
        turnstile.withPermits(1)
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
            yield* Effect.ignore(settle(occupant.directory))
          }).pipe(turnstile.withPermits(1))
      )
      yield* settle(occupant.directory).pipe(turnstile.withPermits(1))
    })
  }
}

const make = Effect.fn("Sandbox.make")(function* (options: SandboxOptions) {
  if (options.mode === "off") return unused({ _tag: "off" })
  const { environment = process.env } = options
  const usability = yield* findUsability(environment, { isRequired: options.mode === "required" })
  if (usability._tag === "unusable") return unused(usability)
  if (options.visiting !== true) yield* Effect.ignore(onDisk("/", () => putAsideLeft(sharedFolder(options))))
  const folder = yield* ownFolder(sharedFolder(options), options.visiting === true)
  const host: Host = {
    options,
    folder,
    engine: usability.engine,
    programs: usability.programs,
    proxyFor: yield* makeProxy(markOf(folder)),
    socketFor: yield* makeSockets,
    policies: new Map(),
    deciders: new Map(),
    opened: new Map()
  }
  return inUse(host)
})

/** Not used, unless a layer provides it. */
export const Sandbox = Context.Reference<SandboxShape>("@reprise/sandbox/Sandbox", {
  defaultValue: () => unused({ _tag: "off" })
})

/** The sandbox of this process, until the scope closes. Fails nowhere: `standing` says why it is not used. */
export const layerSandbox = (options: SandboxOptions) => Layer.effect(Sandbox, make(options))

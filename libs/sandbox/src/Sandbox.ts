/**
 * The sandbox of this host, for everything that runs commands of agents or of a repository
 * (docs/design/workspace.md#sandbox).
 */
import { createHash } from "node:crypto"
import { chmod, mkdir, realpath, rm } from "node:fs/promises"
import { homedir } from "node:os"
import { dirname, join } from "node:path"
import { replaceFile } from "@reprise/process"
import type { PermissionMode, Role } from "@reprise/protocol"
import { Context, Effect, Layer, Schema, type Scope, Semaphore } from "effect"
import { type HostDecider, makeDoors } from "./door.ts"
import { ownFolder } from "./hostFolder.ts"
import { type Policy, policyFor, type SandboxSettings } from "./policy.ts"
import { makeProxy, type ProxyFailed } from "./proxy.ts"
import { dispatchingShell, openShell, type ProxyAccess, sandboxedShell } from "./shellScript.ts"
import { gitPlacesOf, hooksOf, lookAround } from "./surroundings.ts"
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
  /** Default: this process's. */
  readonly environment?: Readonly<Record<string, string | undefined>>
}

export type Standing =
  | { readonly _tag: "used" }
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
  /** The same for a server that serves many directories: what it runs in one follows who works there now. */
  readonly serverShell: Effect.Effect<string, SandboxFault>
  readonly occupy: (occupant: Occupant) => Effect.Effect<void, SandboxFault, Scope.Scope>
  /**
   * Until the scope closes, asks about names that an agent's commands in this directory want to reach and may not; the
   * command waits. Of several the newest is asked. Where nobody is asked, they are refused.
   */
  readonly decideHosts: (directory: string, decider: HostDecider) => Effect.Effect<void, never, Scope.Scope>
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
  decideHosts: () => Effect.void,
  policy: () => notUsed
})

interface Host {
  readonly options: SandboxOptions
  /** Of this process alone. */
  readonly folder: string
  readonly programs: Programs
  readonly proxyFor: (names: ReadonlyArray<string>) => Effect.Effect<ProxyAccess, ProxyFailed>
  readonly doorFor: Effect.Success<typeof makeDoors>
  /** What may be reached, by the key of a door. */
  readonly names: Map<string, ReadonlyArray<string>>
  /** Who decides about other names in a workspace, the newest last. */
  readonly deciders: Map<string, ReadonlyArray<HostDecider>>
}

const onDisk = <A>(directory: string, run: () => Promise<A>) =>
  Effect.tryPromise({ try: run, catch: (cause) => new SandboxFault({ directory, cause }) })

/** Where caches and refused files of all processes are. */
const sharedFolder = ({ stateDirectory }: SandboxOptions) => join(stateDirectory, "sandbox")
const placesOf = ({ folder }: Host) => join(folder, "places")

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

const computePolicy = (host: Host, directory: string, role: Role) =>
  onDisk(directory, async () => {
    const { environment = process.env, settings, stateDirectory, visiting = false } = host.options
    const temporary = join(host.folder, "temporary", digest(directory))
    const caches = join(sharedFolder(host.options), "caches")
    const refused = join(sharedFolder(host.options), "refused")
    if (!visiting) await makeFolders([temporary, caches, refused], directory)
    const home = environment["HOME"] ?? homedir()
    const where = { workspace: directory, stateDirectory, home, environment, temporary, caches, refused }
    return policyFor(await lookAround(where, settings), settings, role)
  })

/** How commands in a workspace reach what they may; those of agents can ask for more. */
const accessFor = Effect.fnUntraced(function* (host: Host, { network, workspace }: Policy, isGate: boolean) {
  const access = yield* host.proxyFor(network)
  const key = `${isGate ? "gate" : "agent"} ${workspace}`
  host.names.set(key, network)
  const socket = yield* host.doorFor(key, {
    names: () => host.names.get(key) ?? [],
    decider: () => (isGate ? undefined : host.deciders.get(workspace)?.at(-1)),
    proxy: (names) => Effect.runPromise(Effect.map(host.proxyFor(names), (proxy) => proxy.socket))
  })
  return { ...access, socket }
})

const textFor = Effect.fnUntraced(function* (host: Host, directory: string, role: Role, isGate: boolean) {
  const policy = yield* computePolicy(host, directory, role)
  const access = policy.network.length === 0 ? undefined : yield* accessFor(host, policy, isGate)
  const { bubblewrap, shell } = host.programs
  return sandboxedShell({
    policy,
    shell: isGate ? "/bin/sh" : shell,
    bubblewrap,
    chosenEnvironment: isGate,
    ...(access === undefined ? {} : { proxy: access })
  })
})

const prepared = (host: Host, directory: string, role: Role, isGate = false) =>
  textFor(host, directory, role, isGate).pipe(
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
    standing: { _tag: "used" },
    covers,
    guards: (directory) => guarded.has(directory),
    coversGates: gates,
    policy: (directory, role) => computePolicy(host, directory, role),
    shellFor: (directory, role) => shellAt(directory, role, prepared(host, directory, role)),
    gateShell: (directory) => shellAt(directory, "gate", prepared(host, directory, "author", true)),
    serverShell: Effect.suspend(() => {
      const path = join(host.folder, "programs", "shell")
      return onDisk(dirname(path), () => writeProgram(path, dispatchingShell(placesOf(host)))).pipe(Effect.as(path))
    }),
    decideHosts: (directory, decider) =>
      Effect.gen(function* () {
        const workspace = yield* Effect.promise(() => realpath(directory).catch(() => directory))
        const change = (to: (known: ReadonlyArray<HostDecider>) => ReadonlyArray<HostDecider>) =>
          Effect.sync(() => void host.deciders.set(workspace, to(host.deciders.get(workspace) ?? [])))
        yield* Effect.acquireRelease(
          change((known) => [...known, decider]),
          () => change((known) => known.filter((one) => one !== decider))
        )
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
  const usability = yield* findUsability(environment)
  if (usability._tag === "unusable") return unused(usability)
  const host: Host = {
    options,
    folder: yield* ownFolder(sharedFolder(options), options.visiting === true),
    programs: usability.programs,
    proxyFor: yield* makeProxy,
    doorFor: yield* makeDoors,
    names: new Map(),
    deciders: new Map()
  }
  return inUse(host)
})

/** Not used, unless a layer provides it. */
export const Sandbox = Context.Reference<SandboxShape>("@reprise/sandbox/Sandbox", {
  defaultValue: () => unused({ _tag: "off" })
})

/** The sandbox of this process, until the scope closes. Fails nowhere: `standing` says why it is not used. */
export const layerSandbox = (options: SandboxOptions) => Layer.effect(Sandbox, make(options))

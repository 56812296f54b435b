/** What the sandbox of one process knows, and how the programs that enter it are prepared. */
import { createHash } from "node:crypto"
import { chmod, mkdir, realpath } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { replaceFile } from "@reprise/process"
import type { Role } from "@reprise/protocol"
import { Effect, Schema } from "effect"
import { gitRepositoryOf, homeOf } from "./askGit.ts"
import type { Decider, Whose } from "./decider.ts"
import { attend } from "./desk.ts"
import { openDoor } from "./door.ts"
import type { Engine } from "./engine.ts"
import { hooksOf } from "./gitPlaces.ts"
import type { Bounds } from "./openPlaces.ts"
import { type OwnPlaces, type Policy, policyFor, type SandboxSettings } from "./policy.ts"
import { type makeProxy, ProxyFailed } from "./proxy.ts"
import { lookAtRefused, mayBeOpened } from "./refusedWrites.ts"
import { seatbeltShell } from "./seatbelt.ts"
import { sandboxedShell } from "./shellScript.ts"
import type { makeSockets } from "./sockets.ts"
import { firstLinks } from "./strayEntries.ts"
import { closedPlaces, lookAround } from "./surroundings.ts"
import type { Programs } from "./usability.ts"

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
  /** Of this process alone. */
  readonly folder: string
  readonly engine: Engine
  readonly programs: Programs
  readonly proxyFor: Effect.Success<ReturnType<typeof makeProxy>>
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
export interface Held {
  readonly policy: Policy
  readonly bounds: Bounds
}

export const onDisk = <A>(directory: string, run: () => Promise<A>) =>
  Effect.tryPromise({ try: run, catch: (cause) => new SandboxFault({ directory, cause }) })

/** Where caches and refused files of all processes are. */
export const sharedFolder = ({ stateDirectory }: SandboxOptions) => join(stateDirectory, "sandbox")
export const environmentOf = ({ options: { environment = process.env } }: Host) => environment
export const placesOf = ({ folder }: Host) => join(folder, "places")
/** What commands said, while they run. No command sees it. */
export const heardFolder = ({ folder }: Host) => join(folder, "heard")

export const digest = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 16)

/** Programs are replaced in one step: a shell that reads the old one goes on with it. */
export const writeProgram = (path: string, text: string) =>
  replaceFile(path, text, { mode: 0o700 }).then(() => chmod(path, 0o700))

/** Bubblewrap needs them to exist; missing hooks would be a folder that a command can make. */
const makeFolders = async (host: Host, folders: ReadonlyArray<string>, directory: string) => {
  for (const folder of folders) await mkdir(folder, { recursive: true, mode: 0o700 })
  const git = await gitRepositoryOf(await realpath(directory), environmentOf(host))
  if (git === undefined) return
  await mkdir(hooksOf(git), { recursive: true })
  await firstLinks(git, sharedFolder(host.options))
}

/** Seatbelt's profile cannot show what lies in a folder that is hidden in a workspace, such as `.reprise`. */
const ownPlaces = ({ engine, folder, options: { stateDirectory } }: Host) =>
  engine === "seatbelt" ? join(tmpdir(), `reprise-sandbox-${digest(stateDirectory)}`) : folder

/** What a human allowed for good holds for quality gates too, which run as an author's commands; what holds for a turn does not. */
export const settled = (host: Host, directory: string, role: Role, whose: Whose = "agent", own?: OwnPlaces) =>
  Effect.flatMap(host.options.opened ?? Effect.succeed<ReadonlyArray<string>>([]), (always) =>
    onDisk(directory, async (): Promise<Held> => {
      const { settings, stateDirectory, visiting = false } = host.options
      const environment = environmentOf(host)
      const temporary = join(ownPlaces(host), "temporary", digest(directory))
      const caches = join(host.engine === "seatbelt" ? ownPlaces(host) : sharedFolder(host.options), "caches")
      const refused = join(sharedFolder(host.options), "refused")
      if (!visiting) await makeFolders(host, [temporary, caches, refused, heardFolder(host)], directory)
      const home = homeOf(environment)
      const where = { workspace: directory, stateDirectory, home, environment, temporary, caches, refused }
      const around = await lookAround(where, settings, own)
      const bounds = { ...around, closed: await closedPlaces(where, settings, around.git) }
      const forNow = whose === "agent" ? (host.opened.get(around.workspace) ?? []) : []
      const wished = role === "author" ? [...always, ...forNow] : []
      const write = [...around.write]
      for (const place of new Set(wished)) if (await mayBeOpened(place, bounds)) write.push(place)
      return { policy: policyFor({ ...around, write }, settings, role), bounds }
    })
  )

/** Of an agent that runs inside as a whole. */
export const agentKeyOf = (name: string, role: Role, workspace: string) => `${name} ${role} ${workspace}`

export const keyOf = (whose: Whose, workspace: string) => `${whose} ${workspace}`

export const failedToListen = (cause: unknown) => new ProxyFailed({ cause })

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

/** What the program of a directory needs failed. */
export const asFault = (directory: string) => (cause: ProxyFailed) =>
  Effect.fail(new SandboxFault({ directory, cause }))

export const prepared = (host: Host, directory: string, role: Role, whose: Whose = "agent") =>
  textFor(host, directory, role, whose).pipe(Effect.catchTag("ProxyFailed", asFault(directory)))

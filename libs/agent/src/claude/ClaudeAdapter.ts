/** The state that the port's methods on Claude share, and how they find a session in it. */
import { mkdir, realpath } from "node:fs/promises"
import { homedir } from "node:os"
import { join } from "node:path"
import { endLeftovers } from "@reprise/process"
import { Sandbox, type SandboxShape } from "@reprise/sandbox"
import { Effect, FiberSet, Option, PubSub, Semaphore } from "effect"
import { claudeEnvironment } from "../agentEnvironment.ts"
import { allTrusted, type ProjectSettings } from "../ProjectSettings.ts"
import type { RuntimeEvent } from "../RuntimeEvent.ts"
import { defaultRestarts, type RestartLimits } from "../restarts.ts"
import { type RuleBook, rulesInMemory } from "../rules/RuleBook.ts"
import { fault, gone, missing } from "./failures.ts"
import { type ClaudeNotInstalled, type ClaudeSdk, ClaudeStateFault, loadSdk } from "./sdk/ClaudeSdk.ts"
import { type KnownSession, KnownSessions } from "./session/KnownSessions.ts"

export interface ClaudeRuntimeOptions {
  /** Where Reprise keeps what Claude does not: `.reprise` of a repository. */
  readonly stateDirectory: string
  /** The environment of Claude and its tools, to which the adapter adds its own variables. Default: this process's. */
  readonly environment?: Readonly<Record<string, string | undefined>>
  /** How often transcripts are checked for activity outside of Reprise. Default 500 ms. */
  readonly pollMs?: number
  /** How long Claude may wait for the model's vendor before the turn fails. Default 60 s. */
  readonly retryPatienceMs?: number
  /** How many model calls a turn may make before it is cut off. Default 20. */
  readonly maxTurns?: number
  /** Read only: the state directory may belong to another process, whose agents must be left alone. */
  readonly visiting?: boolean
  /** Claude leaves out settings that are not trusted. Default: all are. */
  readonly projectSettings?: ProjectSettings
  /** Default: none, and what is always allowed is kept as long as the process runs. */
  readonly rules?: RuleBook
  /** How often a process that somebody has killed is started again in a turn. */
  readonly restarts?: RestartLimits
}

export interface ClaudeAdapter {
  readonly stateDirectory: string
  readonly visiting: boolean
  readonly pollMs: number
  readonly patienceMs: number
  readonly maxTurns: number
  readonly projectSettings: ProjectSettings
  readonly rules: RuleBook
  readonly restarts: RestartLimits
  /** The environment that the user configured. */
  readonly userEnvironment: Readonly<Record<string, string | undefined>>
  readonly sessions: KnownSessions
  readonly hub: PubSub.PubSub<RuntimeEvent>
  /** Runs a turn that continues when its caller is interrupted; it ends with the adapter. */
  readonly runDetached: (turn: Effect.Effect<void>) => void
  /** Serializes `settle`. */
  readonly settling: Semaphore.Semaphore
  /** The real path of the state directory, once leftovers of an earlier owner have ended. */
  settledIn: string | undefined
  sdk: ClaudeSdk | undefined
  readonly sandbox: SandboxShape
}

export const makeClaudeAdapter = Effect.fnUntraced(function* (options: ClaudeRuntimeOptions) {
  const userEnvironment = options.environment ?? process.env
  const configDirectory = userEnvironment["CLAUDE_CONFIG_DIR"] ?? join(userEnvironment["HOME"] ?? homedir(), ".claude")
  const run = yield* FiberSet.makeRuntime()
  const adapter: ClaudeAdapter = {
    stateDirectory: options.stateDirectory,
    visiting: options.visiting === true,
    pollMs: options.pollMs ?? 500,
    patienceMs: options.retryPatienceMs ?? 60_000,
    maxTurns: options.maxTurns ?? 20,
    projectSettings: options.projectSettings ?? allTrusted,
    rules: options.rules ?? rulesInMemory(),
    restarts: options.restarts ?? defaultRestarts,
    userEnvironment,
    sessions: new KnownSessions(options.stateDirectory, configDirectory),
    hub: yield* PubSub.sliding<RuntimeEvent>(16_384),
    runDetached: (turn) => void run(turn),
    settling: yield* Semaphore.make(1),
    settledIn: undefined,
    sdk: undefined,
    sandbox: yield* Sandbox
  }
  return adapter
})

export const publish =
  ({ hub }: ClaudeAdapter) =>
  (event: RuntimeEvent): Effect.Effect<void> =>
    Effect.asVoid(PubSub.publish(hub, event))

/**
 * Ends what an earlier owner of the state directory left running, since it would still write transcripts. Must happen
 * before anything is read or started; later calls only return the directory's real path.
 */
const settle = (adapter: ClaudeAdapter) =>
  Effect.gen(function* () {
    if (adapter.settledIn !== undefined) return adapter.settledIn
    const directory = yield* Effect.tryPromise({
      try: () => mkdir(adapter.stateDirectory, { recursive: true }).then(() => realpath(adapter.stateDirectory)),
      catch: (cause) => new ClaudeStateFault({ operation: "Making the state directory", cause })
    })
    if (!adapter.visiting) yield* endLeftovers(`REPRISE_CLAUDE_STATE=${directory}`)
    adapter.settledIn = directory
    return directory
  }).pipe(adapter.settling.withPermits(1))

/** The SDK, loaded on first use, and the environment of the processes it starts. */
export interface ReadyClaude {
  readonly sdk: ClaudeSdk
  readonly environment: Readonly<Record<string, string>>
}

export const readyFor = (adapter: ClaudeAdapter, operation: string) =>
  Effect.gen(function* (): Effect.fn.Return<ReadyClaude, ClaudeStateFault | ClaudeNotInstalled> {
    const directory = yield* settle(adapter)
    adapter.sdk ??= yield* loadSdk(adapter.userEnvironment)
    const environment = { ...claudeEnvironment(adapter.userEnvironment), REPRISE_CLAUDE_STATE: directory }
    return { sdk: adapter.sdk, environment }
  }).pipe(Effect.mapError(gone(operation)))

/** Whether Claude has lost the transcript of a session that had one. */
export const isLost = ({ record, transcript }: KnownSession): boolean => record.begun && transcript === undefined

/** None for a session that Reprise did not make. */
export const findSession = (adapter: ClaudeAdapter, operation: string, id: string) =>
  Effect.mapError(Effect.andThen(settle(adapter), adapter.sessions.find(id)), fault(operation))

/** Fails with `session-missing` for a session that is unknown or lost. */
export const requireSession = (adapter: ClaudeAdapter, operation: string, id: string) =>
  Effect.flatMap(findSession(adapter, operation, id), (found) =>
    Option.isSome(found) && !isLost(found.value) ? Effect.succeed(found.value) : missing(operation, id)
  )

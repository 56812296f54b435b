/** The state that the port's methods on an agent share, how they reach the agent, and how they find a session. */
import { createHash, randomBytes } from "node:crypto"
import { mkdir, realpath } from "node:fs/promises"
import { homedir } from "node:os"
import { join } from "node:path"
import type { SessionNotification } from "@agentclientprotocol/sdk"
import { endLeftovers, userCacheFolder, variableOf } from "@reprise/process"
import { defined, type RuntimeName } from "@reprise/protocol"
import { Sandbox, type SandboxShape } from "@reprise/sandbox"
import { Clock, Effect, FiberSet, Option, PubSub, Semaphore } from "effect"
import type { AgentError } from "../AgentError.ts"
import { acpEnvironment } from "../agentEnvironment.ts"
import { allTrusted, type ProjectSettings } from "../ProjectSettings.ts"
import type { RuntimeEvent } from "../RuntimeEvent.ts"
import { defaultRestarts, type RestartLimits } from "../restarts.ts"
import { heldBack } from "../rules/PermissionRules.ts"
import { type RuleBook, rulesInMemory } from "../rules/RuleBook.ts"
import { authRequired, gone, missing, other, refused } from "./failures.ts"
import {
  type AgentEnded,
  type AgentProcess,
  CallRefused,
  canLoad,
  type ProcessLimits,
  startAgent,
  startedAgain
} from "./process/AgentProcess.ts"
import { type AgentCommand, acpPrefix, askingVariables, oneProcess, parseCommand } from "./process/command.ts"
import { loginMethod } from "./process/login.ts"
import { agentMethods } from "./process/methods.ts"
import { keyOf, mayEnd, type Rights, rightsOf } from "./process/rights.ts"
import { type AgentAllowance, nothingAllowed, sandboxNeeds } from "./process/sandboxNeeds.ts"
import { type AcpRecord, readRecord, writeRecord } from "./session/AcpRecord.ts"
import { AcpSession, isAtWork } from "./session/AcpSession.ts"
import { answerElicitation, answerPermission } from "./turn/answerRequests.ts"
import { keepTotals, observe } from "./turn/observe.ts"
import { hearTool } from "./turn/refusedWrites.ts"

export interface AcpRuntimeOptions {
  /** As it stands after `acp:`: a program and its arguments, separated by spaces. */
  readonly command: string
  /** Where Reprise keeps what agents do not: `.reprise` of a repository. */
  readonly stateDirectory: string
  /** The environment of the agent and its tools. Default: this process's. */
  readonly environment?: Readonly<Record<string, string | undefined>>
  readonly limits?: Partial<ProcessLimits>
  /** How often it is started again when somebody has killed it. */
  readonly restarts?: RestartLimits
  /** Read only: the state directory may belong to another process, whose agents must be left alone. */
  readonly visiting?: boolean
  /** An agent reads a repository's settings whatever it is told, so it works only where they are trusted. Default: everywhere. */
  readonly projectSettings?: ProjectSettings
  /** Default: none, and what is always allowed is kept as long as the process runs. */
  readonly rules?: RuleBook
  /** What it may do inside the sandbox beside the known needs of its kind. Default: nothing. */
  readonly allowed?: AgentAllowance
}

interface Running {
  readonly process: AgentProcess
  readonly rights: Rights
  usedAtMs: number
}

const defaultLimits: ProcessLimits = {
  startTimeoutMs: 60_000,
  callTimeoutMs: 60_000,
  stopTimeoutMs: 10_000,
  lineBytes: 16 * 1024 * 1024,
  outputBytes: 256 * 1024 * 1024
}

export interface AcpAdapter {
  readonly name: RuntimeName
  readonly command: AgentCommand
  /** As it was given. */
  readonly commandLine: string
  readonly stateDirectory: string
  /** Of the command. */
  readonly key: string
  readonly sandbox: SandboxShape
  readonly allowed: AgentAllowance
  /** Of the records of this agent's sessions. */
  readonly folder: string
  readonly visiting: boolean
  readonly limits: ProcessLimits
  readonly restarts: RestartLimits
  readonly userEnvironment: Readonly<Record<string, string | undefined>>
  readonly projectSettings: ProjectSettings
  readonly rules: RuleBook
  /** By their ids, and by those that the agent has for them. */
  readonly sessions: Map<string, AcpSession>
  readonly hub: PubSub.PubSub<RuntimeEvent>
  /** Runs a turn that continues when its caller is interrupted; it ends with the adapter. */
  readonly runDetached: (turn: Effect.Effect<void>) => void
  readonly runPromise: <A>(answer: Effect.Effect<A>) => Promise<A>
  /** Serializes starts. */
  readonly starting: Semaphore.Semaphore
  /** By their rights. */
  readonly processes: Map<string, Running>
  settled: boolean
}

export const makeAcpAdapter = Effect.fnUntraced(function* (options: AcpRuntimeOptions) {
  const run = yield* FiberSet.makeRuntime()
  const runPromise = yield* FiberSet.makeRuntimePromise()
  const key = createHash("sha256").update(options.command).digest("hex").slice(0, 16)
  const adapter: AcpAdapter = {
    name: `${acpPrefix}${options.command}`,
    command: parseCommand(options.command),
    commandLine: options.command,
    stateDirectory: options.stateDirectory,
    key,
    sandbox: yield* Sandbox,
    allowed: options.allowed ?? nothingAllowed,
    folder: join(options.stateDirectory, "acp", "sessions", key),
    visiting: options.visiting === true,
    limits: { ...defaultLimits, ...options.limits },
    restarts: options.restarts ?? defaultRestarts,
    userEnvironment: options.environment ?? process.env,
    projectSettings: options.projectSettings ?? allTrusted,
    rules: options.rules ?? rulesInMemory(),
    sessions: new Map(),
    hub: yield* PubSub.sliding<RuntimeEvent>(16_384),
    runDetached: (turn) => void run(turn),
    runPromise,
    starting: yield* Semaphore.make(1),
    processes: new Map(),
    settled: false
  }
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      for (const { process } of adapter.processes.values()) process.kill()
    })
  )
  return adapter
})

export const publish =
  ({ hub }: Pick<AcpAdapter, "hub">) =>
  (event: RuntimeEvent): Effect.Effect<void> =>
    Effect.asVoid(PubSub.publish(hub, event))

const onUpdate =
  (adapter: AcpAdapter) =>
  ({ sessionId, update }: SessionNotification): void => {
    const session = adapter.sessions.get(sessionId)
    if (session === undefined) return
    if (update.sessionUpdate === "config_option_update") session.configOptions = update.configOptions
    keepTotals(update, session.told)
    if (session.replay !== undefined) {
      session.replay.apply(update)
      return
    }
    const { live } = session
    // What we said is in the conversation already: some agents tell it again.
    if (live !== undefined && update.sessionUpdate === "user_message_chunk") return
    session.conversation.apply(update)
    if (live === undefined) return
    hearTool(adapter, session, live, update)
    adapter.runDetached(
      Effect.flatMap(Clock.currentTimeMillis, (nowMs) => {
        session.updatedAtMs = nowMs
        const events = observe(update, live, { sessionId: session.record.id, causePromptId: live.messageId }, nowMs)
        if (events.length > 0) live.announced = true
        return Effect.forEach(events, publish(adapter), { discard: true })
      })
    )
  }

/** The agent's own words, or why there is none, as the port's error. */
export const callFailed =
  ({ command }: AcpAdapter, operation: string) =>
  (error: AgentEnded | CallRefused): AgentError =>
    error instanceof CallRefused
      ? refused(operation, error.refusal)
      : gone(operation, `The agent '${command.program}' does not work: ${error.reason} 'reprise doctor' checks it.`)

/**
 * Calls a method of sessions. An agent that answers that it wants a login first gets it, where it can be given without a human,
 * and is called once more.
 */
export const callForSession = Effect.fnUntraced(function* (
  { userEnvironment }: AcpAdapter,
  { call, initialized }: AgentProcess,
  method: string,
  params: object
) {
  const methodId = loginMethod(initialized, userEnvironment)
  const wantsLogin = (error: AgentEnded | CallRefused) => error instanceof CallRefused && error.code === authRequired
  if (methodId === undefined) return yield* call(method, params)
  return yield* call(method, params).pipe(
    Effect.catchIf(wantsLogin, () =>
      Effect.andThen(call(agentMethods.authenticate, { methodId }), call(method, params))
    )
  )
})

/** Of the session that an answer is about. */
export const idIn = (answer: unknown): string | undefined =>
  typeof answer === "object" && answer !== null && "sessionId" in answer && typeof answer.sessionId === "string"
    ? answer.sessionId
    : undefined

/** What the processes of this agent are known by: another agent of this host has others. */
const markOf = ({ key }: AcpAdapter, directory: string) => `REPRISE_ACP_AGENT=${key} ${directory}` as const

/** Ends what an earlier owner of the state directory left running, since it would still write conversations. */
const settle = (adapter: AcpAdapter) =>
  Effect.gen(function* () {
    const directory = yield* Effect.tryPromise({
      try: () => mkdir(adapter.stateDirectory, { recursive: true }).then(() => realpath(adapter.stateDirectory)),
      catch: (cause) => other("start", `The state directory cannot be made: ${String(cause)}`)
    })
    if (!adapter.settled && !adapter.visiting) yield* endLeftovers(markOf(adapter, directory))
    adapter.settled = true
    return directory
  })

/**
 * Where the agent is started: outside of every repository, since it may read the settings of the folder that it is started
 * in. It reads those of a repository with a session there.
 */
const startFolder = ({ userEnvironment }: AcpAdapter) => {
  const folder = join(userCacheFolder(userEnvironment), "agents", "started")
  return Effect.as(
    Effect.tryPromise({
      try: () => mkdir(folder, { recursive: true, mode: 0o700 }),
      catch: (cause) => other("start", `The folder ${folder} cannot be made: ${String(cause)}`)
    }),
    folder
  )
}

/** The program that takes the command into the sandbox. */
const within = Effect.fnUntraced(function* (
  { allowed, commandLine, key, sandbox: { agentProgram }, userEnvironment }: AcpAdapter,
  operation: string,
  rights: Rights,
  startedIn: string
) {
  if (rights._tag === "outside" || agentProgram === undefined) return undefined
  const { directory, role } = rights
  const home = userEnvironment["HOME"] ?? homedir()
  const { own, variables } = sandboxNeeds(commandLine, userEnvironment, home, allowed)
  const places = { ...own, read: [...own.read, startedIn] }
  return yield* agentProgram({ directory, role, name: key, own: places, variables }).pipe(
    Effect.mapError(({ message }) => other(operation, message))
  )
})

const lookEveryMs = 500
/** An agent may write down what was said after it has answered. */
const settleMs = 1_000

/**
 * Until an agent in the sandbox has ended: while nobody calls it, nothing that it has left behind may go on, since nobody looks at
 * the workspace. One that has rested for long is ended. What it may not leave is put aside.
 */
const watchRest = Effect.fnUntraced(function* (adapter: AcpAdapter, running: Running) {
  const { process, rights } = running
  if (rights._tag === "outside") return
  const tidy = Effect.ignore(adapter.sandbox.tidy(rights.directory))
  while (!process.ended()) {
    yield* Effect.sleep(`${lookEveryMs} millis`)
    if (yield* process.rest(settleMs)) yield* tidy
    const { usedAtMs } = running
    const resting = { rights, usedAtMs, isAtWork: isAtWork(adapter.sessions, process), canLoad: canLoad(process) }
    if (mayEnd(resting, yield* Clock.currentTimeMillis)) process.kill()
  }
  yield* process.gone
  yield* tidy
})

/** The running agent with these rights; started if there is none. */
export const reach = (adapter: AcpAdapter, operation: string, rights: Rights) =>
  Effect.gen(function* () {
    const usedAtMs = yield* Clock.currentTimeMillis
    const running = adapter.processes.get(keyOf(rights))
    if (running !== undefined && !running.process.ended()) {
      running.usedAtMs = usedAtMs
      return running.process
    }
    const directory = yield* settle(adapter)
    const startedIn = yield* startFolder(adapter)
    const sandbox = yield* within(adapter, operation, rights, startedIn)
    const held = heldBack(yield* adapter.rules.rules)
    const start = startAgent({
      command: adapter.command,
      ...defined({ sandbox }),
      environment: {
        ...acpEnvironment(adapter.userEnvironment, randomBytes(24).toString("base64url")),
        ...askingVariables(held),
        ...oneProcess,
        ...variableOf(markOf(adapter, directory)),
        REPRISE_ACP_STATE: directory
      },
      directory: startedIn,
      limits: adapter.limits,
      handlers: {
        onUpdate: onUpdate(adapter),
        onPermission: (request) => adapter.runPromise(answerPermission(adapter, request)),
        onElicitation: (request) => adapter.runPromise(answerElicitation(adapter, request))
      }
    })
    const process = yield* startedAgain(start, adapter.restarts).pipe(Effect.mapError(callFailed(adapter, operation)))
    const started = { process, rights, usedAtMs }
    adapter.processes.set(keyOf(rights), started)
    adapter.runDetached(watchRest(adapter, started))
    return process
  }).pipe(adapter.starting.withPermits(1))

/** Any agent that runs, else one that may do nothing in any workspace. */
export const reachAny = Effect.fnUntraced(function* (adapter: AcpAdapter, operation: string) {
  const running = [...adapter.processes.values()].find(({ process }) => !process.ended())
  if (running !== undefined) return running.process
  const directory = yield* startFolder(adapter)
  return yield* reach(adapter, operation, rightsOf(adapter.sandbox, { directory, permissions: "ask" }))
})

export const rightsIn = ({ sandbox }: AcpAdapter, { record }: AcpSession): Rights => rightsOf(sandbox, record)

/** When the turn of a session has ended, its agent begins to rest. What its commands may not leave is put aside. */
export const rest = Effect.fnUntraced(function* (adapter: AcpAdapter, session: AcpSession) {
  const rights = rightsIn(adapter, session)
  const running = adapter.processes.get(keyOf(rights))
  if (running !== undefined) running.usedAtMs = yield* Clock.currentTimeMillis
  if (rights._tag === "inside") yield* Effect.ignore(adapter.sandbox.tidy(rights.directory))
})

export const know = ({ sessions }: AcpAdapter, session: AcpSession): void => {
  for (const id of [session.record.id, session.agentId]) sessions.set(id, session)
}

/** None for a session that Reprise did not make with this agent. Asks nobody. */
export const findSession = (adapter: AcpAdapter, id: string) =>
  Effect.gen(function* () {
    const known = adapter.sessions.get(id)
    if (known !== undefined) return Option.some(known)
    const record = yield* readRecord(adapter.folder, id)
    if (Option.isNone(record)) return Option.none()
    // Another caller may have found it meanwhile.
    const session = adapter.sessions.get(id) ?? new AcpSession(record.value)
    know(adapter, session)
    return Option.some(session)
  })

/** Writes the record to disk, then uses it. */
export const save = (adapter: AcpAdapter, session: AcpSession, record: AcpRecord) =>
  Effect.map(writeRecord(adapter.folder, record), () => {
    session.record = record
  })

/** Fails with `session-missing` for a session that is unknown or lost. */
export const requireSession = Effect.fnUntraced(function* (adapter: AcpAdapter, operation: string, id: string) {
  const found = yield* findSession(adapter, id)
  return Option.isSome(found) ? found.value : yield* missing(operation, id)
})

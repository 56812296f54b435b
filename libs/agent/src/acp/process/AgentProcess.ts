/**
 * A running agent that speaks the Agent Client Protocol over its standard input and output, under a guard. Every wait has a
 * limit: what does not answer within it is ended.
 */
import type {
  ClientConnection,
  InitializeResponse,
  RequestPermissionRequest,
  RequestPermissionResponse,
  SessionNotification
} from "@agentclientprotocol/sdk"
import { freezeBelow, type PipedProcess, startPiped, thawBelow } from "@reprise/process"
import { Clock, Effect, Schema, Semaphore } from "effect"
import { type RestartLimits, startingAgain, wasKilled } from "../../restarts.ts"
import { type AgentRefusal, wordsOf } from "../failures.ts"
import type { AgentCommand } from "./command.ts"
import { messageStream } from "./messageStream.ts"
import { agentMethods, clientMethods, protocolVersion } from "./methods.ts"

export interface ProcessLimits {
  /** Until the agent has answered the handshake. Default 60 s. */
  readonly startTimeoutMs: number
  /** For every later call but a prompt. Default 60 s. */
  readonly callTimeoutMs: number
  /** Until a turn that is aborted has ended. After it the agent is ended, with all its sessions. Default 10 s. */
  readonly stopTimeoutMs: number
  /** Of one message. Default 16 MiB. */
  readonly lineBytes: number
  /** What the agent may write from one prompt to the next. Default 256 MiB. */
  readonly outputBytes: number
}

export interface Handlers {
  readonly onUpdate: (update: SessionNotification) => void
  readonly onPermission: (request: RequestPermissionRequest) => Promise<RequestPermissionResponse>
  readonly onElicitation: (request: unknown) => Promise<unknown>
}

/** The program ended, or was ended, or did not start. */
export class AgentEnded extends Schema.TaggedError<AgentEnded>()("AgentEnded", {
  reason: Schema.String,
  /** It was ended because it does not keep to the protocol or its limits: another try would bring the same. */
  broken: Schema.optionalKey(Schema.Boolean),
  /** Somebody else's signal ended it: nothing is wrong with it. */
  killed: Schema.optionalKey(Schema.Boolean)
}) {
  override get message() {
    return this.reason
  }
}

/** Starts an agent, and again as long as somebody kills it meanwhile. */
export const startedAgain = <A, E, R>(
  start: Effect.Effect<A, E | AgentEnded, R>,
  limits: RestartLimits
): Effect.Effect<A, E | AgentEnded, R> =>
  startingAgain<A, E | AgentEnded, R>(
    start,
    (error) => error instanceof AgentEnded && error.killed === true,
    (error, ends) =>
      new AgentEnded({ reason: `It ${ends}. The last time: ${error instanceof AgentEnded ? error.reason : ""}` }),
    limits
  )

/** The agent answered a call with an error. */
export class CallRefused extends Schema.TaggedError<CallRefused>()("CallRefused", {
  code: Schema.Finite,
  reason: Schema.String
}) {
  override get message() {
    return this.reason
  }
  get refusal(): AgentRefusal {
    return { code: this.code, message: this.reason }
  }
}

export interface AgentProcess {
  /** Whether it runs in the sandbox, with all that it starts. */
  readonly sandboxed: boolean
  readonly initialized: InitializeResponse
  readonly ended: () => boolean
  readonly kill: () => void
  /** `timeoutMs`: null for a call that may take hours. An agent that does not answer in time is ended. */
  readonly call: (
    method: string,
    params: object,
    timeoutMs?: number | null
  ) => Effect.Effect<unknown, AgentEnded | CallRefused>
  readonly notify: (method: string, params: object) => Effect.Effect<void>
  /**
   * Stops it with all that it started in the sandbox if no call went on for as long, and gives whether it was stopped now; a call
   * lets it go on. One that cannot be stopped is ended.
   */
  readonly rest: (idleMs: number) => Effect.Effect<boolean>
  /** Succeeds when it is gone with all that it started. */
  readonly gone: Effect.Effect<void>
  /** Counts the agent's output again. */
  readonly resetOutput: () => void
}

/** Whether it can tell a session again that it kept. */
export const canLoad = ({ initialized }: AgentProcess): boolean => initialized.agentCapabilities?.loadSession === true

const keptErrorOutput = 4096

/** Why it ended: the first that is known. */
class Ending {
  #reason: string | undefined
  /** It does not keep to the protocol or its limits. */
  broken = false
  killed = false

  get reason(): string | undefined {
    return this.#reason
  }

  because(reason: string): void {
    this.#reason ??= reason
  }
}

/** Control characters of an agent's words never reach a terminal. */
const printable = (text: string): string => text.replace(/[^\n\x20-\x7e\u00a0-\uffff]/g, "")

const lastWords = (errors: string): string => {
  const lines = printable(errors).trim().split("\n").slice(-3).join(" ").slice(-500)
  return lines === "" ? "" : ` Its last words: ${lines}`
}

/** A program that closed its output and goes on is ended after a moment. */
const untilExited = (child: PipedProcess) =>
  Effect.promise(() => child.exited).pipe(
    Effect.timeoutOrElse({
      duration: "1 second",
      orElse: () =>
        Effect.promise(() => {
          child.kill()
          return child.exited
        })
    })
  )

type Sdk = typeof import("@agentclientprotocol/sdk")

const connect = ({ client }: Sdk, child: PipedProcess, handlers: Handlers, limits: ProcessLimits, ending: Ending) => {
  let written = 0
  const broken = (reason: string) => {
    if (ending.reason === undefined) ending.broken = true
    ending.because(reason)
    child.kill()
  }
  const onBytes = (bytes: number) => {
    written += bytes
    if (written > limits.outputBytes) throw new Error(`It wrote more than ${limits.outputBytes} bytes in one turn.`)
  }
  const connection: ClientConnection = client({ name: "reprise" })
    .onRequest(clientMethods.requestPermission, ({ params }) => handlers.onPermission(params))
    .onRequest(
      clientMethods.createElicitation,
      (params: unknown) => params,
      ({ params }) => handlers.onElicitation(params)
    )
    .onNotification(clientMethods.update, ({ params }) => handlers.onUpdate(params))
    .connect(messageStream(child, { lineBytes: limits.lineBytes, onBytes }, broken))
  return {
    connection,
    resetOutput: () => {
      written = 0
    }
  }
}

const asCallFailure =
  ({ RequestError }: Sdk, method: string, ending: Ending, errors: () => string) =>
  (cause: unknown): AgentEnded | CallRefused => {
    if (cause instanceof RequestError && ending.reason === undefined) {
      return new CallRefused({ code: cause.code, reason: wordsOf(cause) })
    }
    const why = ending.reason ?? `It ended during ${method}.`
    const { broken, killed } = ending
    return new AgentEnded({
      reason: `${why}${lastWords(errors())}`,
      ...(broken ? { broken } : {}),
      ...(killed ? { killed } : {})
    })
  }

/** Stops what a program runs in the sandbox while nobody calls it. */
const makeResting = Effect.fnUntraced(function* (child: PipedProcess) {
  const inTurn = yield* Semaphore.make(1)
  let calls = 0
  let calledAtMs = yield* Clock.currentTimeMillis
  let isStopped = false
  const wake = Effect.promise(async () => {
    const pid = child.pid()
    if (isStopped && pid !== undefined) await thawBelow(pid)
    isStopped = false
  }).pipe(inTurn.withPermits(1))
  const during = <A, E>(call: Effect.Effect<A, E>) =>
    Effect.acquireUseRelease(
      Effect.sync(() => void calls++),
      () => Effect.andThen(wake, call),
      () =>
        Effect.map(Clock.currentTimeMillis, (nowMs) => {
          calls--
          calledAtMs = nowMs
        })
    )
  const rest = (idleMs: number) =>
    Effect.gen(function* () {
      const pid = child.pid()
      if (isStopped || calls > 0 || pid === undefined) return "goes on"
      if ((yield* Clock.currentTimeMillis) - calledAtMs < idleMs) return "goes on"
      isStopped = true
      return (yield* Effect.promise(() => freezeBelow(pid))) ? "stopped" : "stays awake"
    }).pipe(inTurn.withPermits(1))
  return { during, rest }
})

export interface StartAgent {
  readonly command: AgentCommand
  /** A program that runs the command in the sandbox; absent: it runs in none. */
  readonly sandbox?: string
  readonly environment: Readonly<Record<string, string>>
  readonly directory: string
  readonly limits: ProcessLimits
  readonly handlers: Handlers
}

/** Starts the program and shakes hands with it. It lives until `kill`, or until this process ends. */
export const startAgent = Effect.fn("Acp.start")(function* (
  options: StartAgent
): Effect.fn.Return<AgentProcess, AgentEnded | CallRefused> {
  const { command, directory, environment, handlers, limits, sandbox } = options
  // Its schemas take a tenth of a second to load, which a command without such an agent does not need.
  const sdk = yield* Effect.promise(() => import("@agentclientprotocol/sdk"))
  const ending = new Ending()
  const { args, program } = command
  const started = sandbox === undefined ? command : { program: sandbox, args: [program, ...args] }
  const child = startPiped({ ...started, environment, directory })
  let errors = ""
  let over = false
  child.stderr.on("data", (piece: Buffer) => {
    errors = (errors + piece.toString("utf8")).slice(-keptErrorOutput)
  })
  const { connection, resetOutput } = connect(sdk, child, handlers, limits, ending)
  void child.exited.then(() => {
    over = true
    if (ending.reason === undefined) ending.killed = wasKilled(child.exitCode ?? 0)
    ending.because(`It ended${child.exitCode === null ? "" : ` with ${child.exitCode}`}.`)
    connection.close()
  })
  const resting = yield* makeResting(child)
  const failure = (method: string) => asCallFailure(sdk, method, ending, () => errors)
  const fail = (method: string) => Effect.suspend(() => Effect.fail(failure(method)(undefined)))
  const call: AgentProcess["call"] = (method, params, timeoutMs = limits.callTimeoutMs) => {
    const answer = Effect.tryPromise({
      try: () => connection.agent.request<unknown, object>(method, params),
      catch: failure(method)
    }).pipe(
      // The connection tells first that the program ended, and the program why.
      Effect.catchTag("AgentEnded", () => Effect.andThen(untilExited(child), fail(method)))
    )
    if (timeoutMs === null) return resting.during(answer)
    return resting.during(answer).pipe(
      Effect.timeoutOrElse({
        duration: `${timeoutMs} millis`,
        orElse: () =>
          Effect.suspend(() => {
            ending.because(`It did not answer ${method} within ${timeoutMs} ms.`)
            child.kill()
            return fail(method)
          })
      })
    )
  }
  const initialized = yield* call(
    agentMethods.initialize,
    {
      protocolVersion,
      clientInfo: { name: "reprise", version: "0.1.0" },
      clientCapabilities: {
        fs: { readTextFile: false, writeTextFile: false },
        terminal: false,
        elicitation: { form: {} }
      }
    },
    limits.startTimeoutMs
  ).pipe(
    Effect.flatMap((answer) => decodeInitialized(answer)),
    Effect.onError(() => Effect.sync(() => child.kill()))
  )
  const kill = () => {
    ending.because("Reprise ended it.")
    child.kill()
  }
  const rest: AgentProcess["rest"] = (idleMs) =>
    Effect.map(resting.rest(idleMs), (how) => {
      if (how === "stays awake") kill()
      return how === "stopped"
    })
  return {
    sandboxed: sandbox !== undefined,
    initialized,
    ended: () => over || ending.reason !== undefined,
    kill,
    call,
    notify: (method, params) =>
      Effect.ignore(resting.during(Effect.tryPromise(() => connection.agent.notify(method, params)))),
    rest: sandbox === undefined ? () => Effect.succeed(false) : rest,
    gone: Effect.promise(() => child.exited),
    resetOutput
  }
})

const hasVersion = (answer: unknown): answer is InitializeResponse =>
  typeof answer === "object" && answer !== null && "protocolVersion" in answer

const decodeInitialized = (answer: unknown): Effect.Effect<InitializeResponse, AgentEnded> => {
  if (!hasVersion(answer)) {
    return Effect.fail(new AgentEnded({ reason: "Its answer to the handshake names no version of the protocol." }))
  }
  const { protocolVersion: spoken } = answer
  return spoken === protocolVersion
    ? Effect.succeed(answer)
    : Effect.fail(
        new AgentEnded({
          reason: `It speaks version ${spoken} of the protocol, Reprise version ${protocolVersion}. Use a release of it that speaks that version.`
        })
      )
}

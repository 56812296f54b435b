/** One try of a turn: a process of Claude gets a prompt, and its messages are read until it ends. */

import { delimiter } from "node:path"
import { defined } from "@reprise/protocol"
import type { SandboxShape } from "@reprise/sandbox"
import { Clock, Effect, Option, Schema, Stream } from "effect"
import { AgentError, promptFailed } from "../../AgentError.ts"
import type { Prompt } from "../../AgentRuntimeShape.ts"
import { instructionsOf } from "../../earlierInstructions.ts"
import type { ProjectSettings } from "../../ProjectSettings.ts"
import type { RuntimeEvent } from "../../RuntimeEvent.ts"
import type { RestartLimits } from "../../restarts.ts"
import { heldBack } from "../../rules/PermissionRules.ts"
import type { RuleBook } from "../../rules/RuleBook.ts"
import { emitEveryMs } from "../../TextThrottle.ts"
import { isFinal } from "../failures.ts"
import type { ClaudeSdk } from "../sdk/ClaudeSdk.ts"
import { type QueryBroken, type StartedQuery, startQuery } from "../sdk/query.ts"
import { isResult, type SdkMessage } from "../sdk/SdkContract.ts"
import type { KnownSession, KnownSessions } from "../session/KnownSessions.ts"
import type { LiveTurn } from "../session/LiveTurn.ts"
import { readsProject } from "./claudePermissions.ts"
import { earlierInstructions, instructionsIn } from "./instructions.ts"
import { heldWords, observe } from "./observe.ts"
import { answerToolRequest } from "./toolRequests.ts"

/** How the turn's programs enter the sandbox. */
export interface Guarded {
  /** The program that runs commands. */
  readonly shell: string
  /** The folder of the git that Claude starts by itself. */
  readonly git: string
}

export interface TurnOptions {
  readonly sdk: ClaudeSdk
  readonly sessions: KnownSessions
  /** Absolute. */
  readonly stateDirectory: string
  readonly environment: Readonly<Record<string, string>>
  readonly tell: (event: RuntimeEvent) => Effect.Effect<void>
  /** How long Claude may wait for the model's vendor before the turn fails. */
  readonly patienceMs: number
  /** How many model calls a turn may make whose prompt sets no limit. */
  readonly maxTurns: number
  /** Absent: the turn's commands run in no sandbox. */
  readonly guarded?: Guarded
  readonly protectedPaths: SandboxShape["protectedPaths"]
  readonly projectSettings: ProjectSettings
  readonly rules: RuleBook
  /** How often a process that somebody killed is started again. */
  readonly restarts: RestartLimits
}

/** How long a process may take to end after its turn has ended. */
const exitGraceMs = 10_000

/** A message that the SDK's types leave out: the state of a prompt. */
const decodeLifecycle = Schema.decodeUnknownOption(
  Schema.Struct({ type: Schema.Literal("command_lifecycle"), state: Schema.String })
)

/** How a try ended: the process ended, broke off, or waited too long for the model's vendor (an `AgentError`). */
export type QueryEnd = { readonly _tag: "ended"; readonly limited: boolean } | QueryBroken | AgentError

/** What the process has reported so far. */
interface Reported {
  /** Claude has started to work on the prompt. */
  begun: boolean
  /** The process has reported the turn's result. */
  over: boolean
  end: QueryEnd
}

interface QueryRun {
  readonly options: TurnOptions
  readonly known: KnownSession
  readonly live: LiveTurn
  readonly prompt: Prompt
}

/** Gives up when the vendor's failure is final, or Claude waits for it longer than allowed. */
const checkPatience = ({ live, options }: QueryRun, query: StartedQuery, reported: Reported, now: number): void => {
  if (live.retrying === undefined) return
  const { kind, message: detail, sinceMs, untilMs } = live.retrying
  const { patienceMs } = options
  const retryAfterMs = untilMs - now
  if (!isFinal(kind) && retryAfterMs <= patienceMs && now - sinceMs <= patienceMs) return
  reported.end = promptFailed({ kind, detail, sessionUsable: true, ...(isFinal(kind) ? {} : { retryAfterMs }) })
  query.kill()
}

const tellHeldWords = Effect.fnUntraced(function* (
  { live, options }: QueryRun,
  at: { readonly sessionId: string; readonly causePromptId: string }
) {
  yield* Effect.sleep(`${emitEveryMs} millis`)
  live.tellsWords = false
  yield* Effect.forEach(heldWords(live, at), options.tell, { discard: true })
})

const handleMessage = Effect.fnUntraced(function* (
  run: QueryRun,
  query: StartedQuery,
  reported: Reported,
  message: SdkMessage
) {
  const { known, live, options } = run
  const now = yield* Clock.currentTimeMillis
  const at = { sessionId: known.record.id, causePromptId: live.messageId }
  const events = observe(message, live, at, now)
  if (events.length > 0) live.announced = true
  yield* Effect.forEach(events, options.tell, { discard: true })
  if (live.words.holds && !live.tellsWords) {
    live.tellsWords = true
    yield* Effect.forkScoped(tellHeldWords(run, at))
  }
  checkPatience(run, query, reported, now)
  const lifecycle = Option.getOrUndefined(decodeLifecycle(message))
  reported.begun ||= lifecycle?.state === "started"
  // A prompt that is reported as done without having started will give no result.
  if (lifecycle !== undefined && lifecycle.state !== "queued" && !reported.begun) query.finish()
  if (!isResult(message)) return
  reported.over = true
  if (message.subtype === "error_max_turns") reported.end = { _tag: "ended", limited: true }
  query.finish()
  yield* Effect.forkScoped(
    Effect.delay(
      Effect.sync(() => query.kill()),
      `${exitGraceMs} millis`
    )
  )
})

const variablesOf = ({ git, shell }: Guarded, environment: Readonly<Record<string, string>>) => ({
  CLAUDE_CODE_SHELL_PREFIX: shell,
  PATH: [git, environment["PATH"]].join(delimiter)
})

const start = Effect.fnUntraced(function* ({ known, live, options, prompt }: QueryRun, uuid: string, text: string) {
  const { environment, guarded, projectSettings, protectedPaths, rules, sdk, sessions, stateDirectory, tell } = options
  const { directory, permissions } = known.record
  const { instructionsFrom: from } = prompt
  // With a repository's settings Claude reads its instructions by itself, as they are now.
  const trusted = from === undefined && (yield* projectSettings(directory))._tag === "trusted"
  const run = Effect.runPromiseWith(yield* Effect.context<never>())
  return yield* startQuery({
    sdk,
    record: known.record,
    resumes: known.entries.some(({ kind }) => kind === "prompt"),
    uuid,
    text,
    environment: guarded === undefined ? environment : { ...environment, ...variablesOf(guarded, environment) },
    trusted,
    held: heldBack(yield* rules.rules),
    stateDirectory,
    instructions: readsProject(permissions, trusted)
      ? undefined
      : from === undefined
        ? yield* instructionsIn(directory)
        : earlierInstructions(yield* instructionsOf(stateDirectory, directory, from)),
    ...defined({ model: prompt.model, variant: prompt.variant }),
    maxTurns: prompt.maxTurns ?? options.maxTurns,
    canUseTool: (tool, input, { signal, toolUseID: id }) =>
      run(
        answerToolRequest(
          { sessions, known, live, tell, rules, sandboxed: guarded !== undefined, protectedPaths },
          { id, tool, input }
        ),
        {
          signal
        }
      )
  })
})

/** Runs one process to its end. Never fails: how it ended is the result. */
export const runQuery = Effect.fnUntraced(
  function* (run: QueryRun, uuid: string, text: string) {
    const query = yield* start(run, uuid, text)
    run.live.process = query
    const reported: Reported = { begun: false, over: false, end: { _tag: "ended", limited: false } }
    return yield* query.messages.pipe(
      Stream.runForEach((message) => handleMessage(run, query, reported, message)),
      Effect.match({
        onSuccess: () => reported.end,
        // A process whose turn has failed also says so with its exit code.
        onFailure: (broken) => (reported.over || reported.end instanceof AgentError ? reported.end : broken)
      })
    )
  },
  Effect.scoped,
  Effect.catchTag("QueryBroken", (broken) => Effect.succeed<QueryEnd>(broken)),
  (effect, { live }) =>
    Effect.ensuring(
      effect,
      Effect.sync(() => {
        live.process = undefined
        live.retrying = undefined
        live.tellsWords = false
      })
    )
)

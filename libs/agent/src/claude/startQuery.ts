/** One query: one process of Claude, under a guard, that is given one prompt and ends with its turn. */
import type { CanUseTool, Options, SDKMessage, SDKUserMessage } from "@anthropic-ai/claude-agent-sdk"
import { type PipedProcess, startPiped } from "@reprise/process"
import { Effect, type Scope, Stream } from "effect"
import type { LiveProcess } from "./LiveTurn.ts"
import type { ClaudeSdk } from "./loadSdk.ts"
import { settingSourcesOf, settingsOf, withheldTools } from "./permissions.ts"
import type { SessionRecord } from "./SessionRecord.ts"

export interface QueryOptions {
  readonly sdk: ClaudeSdk
  readonly record: SessionRecord
  /** The session has a conversation. */
  readonly resumes: boolean
  readonly uuid: string
  readonly text: string
  readonly model?: string
  readonly maxTurns: number
  readonly environment: Readonly<Record<string, string>>
  readonly canUseTool: CanUseTool
}

/** The process broke off, or never began: `reason` is what it said last. */
export interface QueryBroken {
  readonly _tag: "QueryBroken"
  readonly reason: string
}

export interface StartedQuery extends LiveProcess {
  /** Ends when the process does. */
  readonly messages: Stream.Stream<SDKMessage, QueryBroken>
  /** Nothing more is said to it: it may end. */
  readonly finish: () => void
}

const reasonOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause)).slice(0, 1000)

const defined = (environment: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  )

/** Its own provider needs no naming. */
const modelOf = (model: string): string => model.replace(/^(anthropic|claude)\//, "")

const sdkOptions = (options: QueryOptions): Options => {
  const { canUseTool, environment, maxTurns, model = options.record.model, record, sdk } = options
  return {
    cwd: record.directory,
    env: { ...environment },
    pathToClaudeCodeExecutable: sdk.program,
    ...(options.resumes ? { resume: record.id } : { sessionId: record.id, title: record.title }),
    ...(model === undefined ? {} : { model: modelOf(model) }),
    maxTurns,
    includePartialMessages: true,
    // Every request comes to `canUseTool`, which goes by the session's mode: also in mode `all`, since the SDK warns on
    // our standard error when it has nothing to ask, and a human who opens the session later would inherit the leave.
    permissionMode: "default",
    canUseTool,
    disallowedTools: withheldTools,
    settings: settingsOf(record.permissions),
    settingSources: settingSourcesOf(record.permissions),
    strictMcpConfig: record.permissions !== "all",
    systemPrompt: { type: "preset", preset: "claude_code" }
  }
}

/** Lives until its scope closes, which ends the process and all that it started. */
export const startQuery = Effect.fn("Claude.query")(function* (
  options: QueryOptions
): Effect.fn.Return<StartedQuery, QueryBroken, Scope.Scope> {
  const { record, sdk, text, uuid } = options
  const done = Promise.withResolvers<void>()
  let child: PipedProcess | undefined
  const input = async function* (): AsyncGenerator<SDKUserMessage> {
    yield {
      type: "user",
      uuid: asUuid(uuid),
      session_id: record.id,
      parent_tool_use_id: null,
      message: { role: "user", content: text }
    }
    // The input stays open until the turn is over: an interruption is said over it too.
    await done.promise
  }
  const query = yield* Effect.acquireRelease(
    Effect.try({
      try: () =>
        sdk.query({
          prompt: input(),
          options: {
            ...sdkOptions(options),
            spawnClaudeCodeProcess: ({ args, command, cwd, env }) => {
              child = startPiped({
                program: command,
                args,
                environment: defined(env),
                directory: cwd ?? record.directory
              })
              child.stderr.resume()
              return child
            }
          }
        }),
      catch: (cause): QueryBroken => ({ _tag: "QueryBroken", reason: reasonOf(cause) })
    }),
    (it) =>
      Effect.promise(async () => {
        done.resolve()
        child?.kill()
        await child?.exited
        it.close()
      })
  )
  return {
    messages: Stream.fromAsyncIterable(
      query,
      (cause): QueryBroken => ({ _tag: "QueryBroken", reason: reasonOf(cause) })
    ),
    finish: () => done.resolve(),
    interrupt: () => query.interrupt(),
    kill: () => void child?.kill(),
    pid: () => child?.pid()
  }
})

const isUuid = (text: string): text is `${string}-${string}-${string}-${string}-${string}` =>
  text.split("-").length === 5

const asUuid = (text: string) => {
  if (isUuid(text)) return text
  throw new Error(`${text} is no uuid`)
}

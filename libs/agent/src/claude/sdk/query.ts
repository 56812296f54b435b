/** Queries through the SDK: each is a process of Claude under a guard. */
import { type PipedProcess, startPiped } from "@reprise/process"
import { Effect, type Scope, Stream } from "effect"
import { wasKilled } from "../../restarts.ts"
import type { HeldBack } from "../../rules/PermissionRules.ts"
import { efforts } from "../efforts.ts"
import type { LiveProcess } from "../session/LiveTurn.ts"
import type { SessionRecord } from "../session/SessionRecord.ts"
import { readsProject, settingSourcesOf, settingsOf, withheldFrom } from "../turn/claudePermissions.ts"
import type { ClaudeSdk } from "./ClaudeSdk.ts"
import type { CanUseTool, Effort, SdkMessage, SdkOptions, SentMessage } from "./SdkContract.ts"

export interface QueryOptions {
  readonly sdk: ClaudeSdk
  readonly record: SessionRecord
  /** Whether the session already has a conversation. */
  readonly resumes: boolean
  readonly uuid: string
  readonly text: string
  readonly model?: string
  readonly variant?: string
  readonly maxTurns: number
  readonly environment: Readonly<Record<string, string>>
  /** Whether the settings that the repository brings are trusted. */
  readonly trusted: boolean
  /** The repository's instructions, where Claude does not read them itself. */
  readonly instructions: string | undefined
  readonly canUseTool: CanUseTool
  /** What rules hold back. */
  readonly held: HeldBack
  /** Absolute. */
  readonly stateDirectory: string
}

/** The process broke off or did not start; `reason` is its last message. */
export interface QueryBroken {
  readonly _tag: "QueryBroken"
  readonly reason: string
  /** Somebody's signal ended the process: nothing is wrong with it. */
  readonly killed: boolean
}

export interface StartedQuery extends LiveProcess {
  /** Ends when the process does. */
  readonly messages: Stream.Stream<SdkMessage, QueryBroken>
  /** Closes its input, so that it can end. */
  readonly finish: () => void
}

const reasonOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause)).slice(0, 1000)

const defined = (environment: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  )

/** Claude expects its own models without the provider's name. */
const modelOf = (model: string): string => model.replace(/^(anthropic|claude)\//, "")

const isEffort = (variant: string): variant is Effort => efforts.some((effort) => effort === variant)

/** Claude's variants are its efforts; it would refuse any other word. */
const effortOf = (variant: string | undefined): Pick<SdkOptions, "effort"> =>
  variant !== undefined && isEffort(variant) ? { effort: variant } : {}

const sdkOptions = (options: QueryOptions): SdkOptions => {
  const {
    canUseTool,
    environment,
    held,
    instructions,
    maxTurns,
    model = options.record.model,
    record,
    sdk,
    stateDirectory,
    trusted
  } = options
  return {
    cwd: record.directory,
    env: { ...environment },
    pathToClaudeCodeExecutable: sdk.program,
    ...(options.resumes ? { resume: record.id } : { sessionId: record.id, title: record.title }),
    ...(model === undefined ? {} : { model: modelOf(model) }),
    ...effortOf(options.variant),
    maxTurns,
    includePartialMessages: true,
    // Every request goes to `canUseTool`, which follows the session's mode. So does mode `all`: otherwise the SDK warns on
    // our standard error, and a human who opens the session later would inherit all permissions.
    permissionMode: "default",
    canUseTool,
    disallowedTools: withheldFrom(held),
    settings: settingsOf(record.permissions, held, stateDirectory),
    settingSources: settingSourcesOf(record.permissions, trusted),
    strictMcpConfig: !readsProject(record.permissions, trusted),
    systemPrompt: {
      type: "preset",
      preset: "claude_code",
      ...(instructions === undefined ? {} : { append: instructions })
    }
  }
}

/** Starts a process that gets one prompt. Closing the scope ends it and everything it started. */
export const startQuery = Effect.fn("Claude.query")(function* (
  options: QueryOptions
): Effect.fn.Return<StartedQuery, QueryBroken, Scope.Scope> {
  const { record, sdk, text, uuid } = options
  const done = Promise.withResolvers<void>()
  let child: PipedProcess | undefined
  const input = async function* (): AsyncGenerator<SentMessage> {
    yield {
      type: "user",
      uuid: asUuid(uuid),
      session_id: record.id,
      parent_tool_use_id: null,
      message: { role: "user", content: text }
    }
    // The input stays open until the turn is over, because an interruption is sent over it too.
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
      catch: (cause): QueryBroken => ({ _tag: "QueryBroken", reason: reasonOf(cause), killed: false })
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
      (cause): QueryBroken => ({
        _tag: "QueryBroken",
        reason: reasonOf(cause),
        killed: wasKilled(child?.exitCode ?? 0)
      })
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
  throw new Error(`${text} is not a uuid`)
}

/** The models that Claude offers, as `anthropic/…`, in Claude's order and with its aliases such as `opus`. */
export const listModels = (sdk: ClaudeSdk, directory: string, environment: Readonly<Record<string, string>>) =>
  Effect.tryPromise(async () => {
    const done = Promise.withResolvers<void>()
    let child: PipedProcess | undefined
    const query = sdk.query({
      prompt: (async function* () {
        await done.promise
      })(),
      options: {
        cwd: directory,
        env: { ...environment },
        pathToClaudeCodeExecutable: sdk.program,
        settingSources: ["user"],
        spawnClaudeCodeProcess: ({ args, command }) => {
          child = startPiped({ program: command, args, environment, directory })
          child.stderr.resume()
          return child
        }
      }
    })
    try {
      return (await query.supportedModels()).map(({ value }) => `anthropic/${value}`)
    } finally {
      done.resolve()
      child?.kill()
      await child?.exited
      query.close()
    }
  })

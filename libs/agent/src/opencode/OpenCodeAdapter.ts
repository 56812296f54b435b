/** The parts that the port's methods on OpenCode share, and how they find a session. */
import type { Session } from "@opencode-ai/sdk/v2/client"
import { Effect, Option } from "effect"
import { AgentError } from "../AgentError.ts"
import { allTrusted, type ProjectSettings, requireTrustedSettings } from "../ProjectSettings.ts"
import { type RuleBook, rulesInMemory } from "../rules/RuleBook.ts"
import { type EventFeed, makeEventFeed } from "./events/EventFeed.ts"
import { type Calls, makeCalls } from "./server/calls.ts"
import { OpenCodeServer, type OpenCodeServerShape } from "./server/OpenCodeServer.ts"
import { SessionFacts } from "./session/SessionFacts.ts"
import { type ContextLimit, makeContextLimit } from "./turn/contextLimits.ts"
import { makeSubagentCalls, type SubagentCalls } from "./turn/usageOf.ts"

export interface OpenCodeRuntimeOptions {
  /** How long OpenCode may be unreachable before a call or a turn fails; ten times as long if it is only slow. Default 60 s. */
  readonly runtimeGraceMs?: number
  /** How often the status of a running turn's session is polled. Default 2 s. */
  readonly pollMs?: number
  /** How long OpenCode may wait for the model's vendor before the turn fails. Default 60 s. */
  readonly retryPatienceMs?: number
  /** OpenCode reads a repository's plugins whatever it is told, so it works only where they are trusted. Default: everywhere. */
  readonly projectSettings?: ProjectSettings
  /** Default: none, and what is always allowed is kept as long as the process runs. */
  readonly rules?: RuleBook
}

export interface OpenCodeAdapter {
  readonly projectSettings: ProjectSettings
  /** The directories about which OpenCode was asked. */
  readonly loaded: Set<string>
  readonly server: OpenCodeServerShape
  readonly calls: Calls
  readonly facts: SessionFacts
  readonly feed: EventFeed
  readonly limitOf: ContextLimit
  readonly subagentCalls: SubagentCalls
  readonly pollMs: number
  readonly patienceMs: number
  readonly rules: RuleBook
}

export const makeOpenCodeAdapter = Effect.fnUntraced(function* (options: OpenCodeRuntimeOptions) {
  const { pollMs = 2000, retryPatienceMs: patienceMs = 60_000, runtimeGraceMs: graceMs = 60_000 } = options
  const rules = options.rules ?? rulesInMemory()
  const server = yield* OpenCodeServer
  const calls = makeCalls(server, graceMs)
  const facts = new SessionFacts()
  const feed = yield* makeEventFeed({ server, calls, facts, graceMs, pollMs: Math.max(pollMs, 1000), rules })
  const adapter: OpenCodeAdapter = {
    projectSettings: options.projectSettings ?? allTrusted,
    loaded: new Set(),
    server,
    calls,
    facts,
    feed,
    limitOf: makeContextLimit(calls),
    subagentCalls: makeSubagentCalls(calls),
    pollMs,
    patienceMs,
    rules
  }
  return adapter
})

/** Turns what a call can fail with into the port's error. */
export const fault =
  (operation: string) =>
  (error: { readonly _tag: string; readonly message: string }): AgentError =>
    error instanceof AgentError
      ? error
      : new AgentError({ kind: "other", operation, detail: error.message, sessionUsable: true })

/** The server cannot be reached at all, or not be started. */
export const unavailable =
  (operation: string) =>
  (error: { readonly message: string }): AgentError =>
    new AgentError({ kind: "gone", operation, detail: error.message, sessionUsable: true })

/** Keeps what a session's record says, and watches the session from now on. */
export const remember = ({ facts, feed }: OpenCodeAdapter, session: Session) =>
  Effect.as(feed.watch(facts.remember(session)), session)

/**
 * Fails if a directory has settings that are not trusted. A turn that runs can be aborted whatever its agent has written
 * meanwhile: OpenCode has loaded the directory before.
 */
export const requirePermitted = Effect.fnUntraced(function* (
  { loaded, projectSettings }: OpenCodeAdapter,
  operation: string,
  directory: string
) {
  if (operation === "abort" && loaded.has(directory)) return
  yield* requireTrustedSettings(projectSettings, operation, directory)
  loaded.add(directory)
})

/**
 * None for a session that OpenCode does not have. An id in another format is not even asked for. Fails if the session's
 * directory has settings that are not trusted: any call about a directory makes OpenCode load them.
 */
export const findSession = (adapter: OpenCodeAdapter, operation: string, id: string) =>
  id.startsWith("ses_")
    ? adapter.calls
        .reaching(operation, (client, signal) => client.session.get({ sessionID: id }, { signal }))
        .pipe(
          Effect.tap(({ directory }) => requirePermitted(adapter, operation, directory)),
          Effect.flatMap((session) => remember(adapter, session)),
          Effect.asSome,
          Effect.catchIf(
            (error) => error._tag === "Refused" && error.status === 404,
            () => Effect.succeedNone
          ),
          Effect.mapError(fault(operation))
        )
    : Effect.succeedNone

/** Fails with `session-missing` for a session that OpenCode does not have. */
export const requireSession = (adapter: OpenCodeAdapter, operation: string, id: string) =>
  Effect.flatMap(findSession(adapter, operation, id), (found) =>
    Option.isSome(found)
      ? Effect.succeed(found.value)
      : new AgentError({
          kind: "session-missing",
          operation,
          detail: `OpenCode has no session ${id}. Start a new one.`,
          sessionUsable: false
        })
  )

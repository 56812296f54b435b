/** `reprise sessions start "do X"`: a session without a plan, with the same gate, limits, permissions and auto-resume. */
import { randomUUID } from "node:crypto"
import { text } from "node:stream/consumers"
import { Messenger } from "@reprise/actor"
import { locateClaude } from "@reprise/agent"
import { type RuntimeName, type SessionCommand, SessionId, SessionView, sessionPrompts } from "@reprise/protocol"
import { Effect, Option } from "effect"
import { type Config, get } from "../../config/Config.ts"
import { loadConfig } from "../../config/loadConfig.ts"
import { ensureSchemaFile } from "../../config/schemaFile.ts"
import { sessionLimits } from "../../config/sessionLimits.ts"
import { findProject, type Project } from "../../project/Project.ts"
import { readPrompts } from "../../project/readPrompts.ts"
import { BrokerLost, duringTenure } from "../../system/broker.ts"
import { listOf } from "../../system/clientSystem.ts"
import { findSession, isOver } from "../../system/findSession.ts"
import { hostingSystem } from "../../system/System.ts"
import type { SessionFlags } from "../../system/withPlace.ts"
import { exitCodes, exitWith, missing, wrongUse } from "../../terminal/CliFailure.ts"
import { data, say, visible } from "../../terminal/Printer.ts"
import { requireTrust } from "../../trust/requireTrust.ts"
import { agentSettings, powersOf, serverSettings } from "../../trust/trustedSettings.ts"
import { followSession } from "./followSession.ts"

interface Flags extends SessionFlags {
  readonly prompt: string
  readonly noInput: boolean
  readonly runtime: Option.Option<RuntimeName>
  readonly model: Option.Option<string>
}

interface Task {
  readonly project: Project
  readonly config: Config
  readonly prompt: string
  readonly prompts: Readonly<Record<string, string>>
  readonly terminal: boolean
  readonly json: boolean
}

const commandLine = ({ model, nats, runtime }: Flags): ReadonlyMap<string, unknown> =>
  new Map<string, unknown>([
    ...Option.match(runtime, { onNone: () => [], onSome: (name) => [["runtime", name] as const] }),
    ...Option.match(model, { onNone: () => [], onSome: (name) => [["model", name] as const] }),
    ...Option.match(nats, { onNone: () => [], onSome: (url) => [["nats.url", url] as const] })
  ])

/** The session of this very task that is not over yet: as with a run's plan, it goes on. */
const findOpen = Effect.fnUntraced(function* ({ project, prompt }: Task) {
  const sessions = yield* listOf("session-manager", SessionView)
  return sessions
    .filter((session) => session.prompt === prompt && session.directory === project.root && !isOver(session))
    .sort((a, b) => b.createdAt.localeCompare(a.createdAt))[0]
})

const makeSessionId = (): SessionId =>
  SessionId.make(`s${Math.floor(Date.now() / 1000).toString(36)}-${randomUUID().slice(0, 8)}`)

const begin = Effect.fnUntraced(function* ({ config, project, prompt, prompts }: Task) {
  const messenger = yield* Messenger
  const sessionId = makeSessionId()
  const model = get<string | undefined>(config, "model")
  const command: Omit<Extract<SessionCommand, { readonly _tag: "StartSession" }>, "host"> = {
    _tag: "StartSession",
    sessionId,
    prompt,
    runtime: get(config, "runtime"),
    ...(model === undefined ? {} : { model }),
    directory: project.root,
    permissions: get(config, "permissions"),
    ...sessionPrompts(prompts),
    limits: sessionLimits(config)
  }
  yield* messenger.send("session-manager", sessionId, command, { id: `start-${sessionId}`, subject: sessionId })
  return sessionId
})

/** What a human wants to see at the end: the last words, and what they cost. */
const conclude = Effect.fnUntraced(function* (sessionId: SessionId, lastWords: string | undefined) {
  const { cost, status, tokens, turns } = yield* findSession(sessionId)
  if (lastWords !== undefined) data(visible(lastWords))
  const used = `${turns} turn${turns === 1 ? "" : "s"}, ${tokens.input + tokens.output} tokens, $${cost.toFixed(4)}`
  say(`session ${sessionId} ${status}: ${used}; 'reprise sessions show ${sessionId}' shows all of it`)
})

const work = Effect.fnUntraced(function* (task: Task) {
  const since = new Date(Date.now() - 1).toISOString()
  const existing = yield* findOpen(task)
  const sessionId = existing?.sessionId ?? (yield* begin(task))
  if (!task.json) say(existing === undefined ? `session ${sessionId}` : `going on with session ${sessionId}`)
  const { code, lastWords } = yield* followSession(sessionId, {
    terminal: task.terminal,
    json: task.json,
    ...(existing === undefined ? {} : { since }),
    ...(existing?.escalationId === undefined ? {} : { open: existing.escalationId })
  })
  if (!task.json && code !== exitCodes.waiting && code !== exitCodes.interrupted) yield* conclude(sessionId, lastWords)
  return code
})

const readPrompt = (given: string) =>
  given === "-" ? Effect.promise(() => text(process.stdin)) : Effect.succeed(given)

/** Gives the exit code of protocol.md. When the process that did the work ends, this one goes on with it. */
const execute = (task: Task) =>
  duringTenure(work(task)).pipe(
    Effect.provide(hostingSystem(task)),
    Effect.retry({ while: (error) => error instanceof BrokerLost })
  )

export const startSession = Effect.fn("startSession")(function* (flags: Flags) {
  const terminal = process.stdin.isTTY === true && process.stderr.isTTY === true && !flags.noInput && !flags.json
  const project = yield* findProject(process.cwd())
  const prompt = yield* readPrompt(flags.prompt)
  if (prompt.trim() === "") {
    return yield* wrongUse("prompt-missing", "A session needs to be told what to do.", `reprise sessions start "do X"`)
  }
  const config = yield* loadConfig(project.root, commandLine(flags))
  if (get(config, "runtime") === "claude") {
    yield* locateClaude().pipe(
      Effect.mapError((error) =>
        missing("runtime-missing", error.message, "Install it, or use --runtime opencode.", error)
      )
    )
  }
  const powers = powersOf(config, ["permissions", ...serverSettings, ...agentSettings])
  yield* requireTrust(project, powers, { terminal })
  const prompts = yield* readPrompts(project)
  yield* ensureSchemaFile(project)
  const code = yield* execute({ project, config, prompt, prompts, terminal, json: flags.json })
  if (code !== exitCodes.done) return yield* exitWith(code)
})

/** `reprise sessions start "do X"`: a session without a plan, with the same gate, limits, permissions and auto-resume. */
import { text } from "node:stream/consumers"
import { Messenger } from "@reprise/actor"
import { anyHost, RunId, type RuntimeName, type SessionId, sessionPrompts, to } from "@reprise/protocol"
import { Effect, Option } from "effect"
import { ensureSchemaFile } from "../../config/jsonSchema.ts"
import { loadConfig } from "../../config/loadConfig.ts"
import { sessionLimits } from "../../config/serviceOptions.ts"
import type { Settings } from "../../config/settingsTable.ts"
import { findProject, type Project } from "../../project/Project.ts"
import { readPrompts } from "../../project/prompts.ts"
import { isBrokerLost, untilBrokerLostOrFull } from "../../system/broker.ts"
import type { ClientFlags } from "../../system/clientSystem.ts"
import { allQuestions, allSessions, findSession } from "../../system/lookUp.ts"
import { newSessionId } from "../../system/names.ts"
import { requireRuntime } from "../../system/runtimes.ts"
import { hostingSystem } from "../../system/System.ts"
import { exitWith, wrongUse } from "../../terminal/CliFailure.ts"
import { exitCodes } from "../../terminal/exitCodes.ts"
import { PlainQuestions } from "../../terminal/fullScreen.ts"
import { data, say } from "../../terminal/Printer.ts"
import { isInteractive } from "../../terminal/readLine.ts"
import { visible } from "../../terminal/visible.ts"
import { agentsOf, requireTrust } from "../../trust/requireTrust.ts"
import {
  agentSettings,
  notifySettings,
  sandboxSettings,
  serverSettings,
  trustedSettings
} from "../../trust/trustedSettings.ts"
import { isOver } from "../../views/ended.ts"
import { type ProgressFlags, withDisplay } from "../../views/live/Display.ts"
import { followSession } from "./followSession.ts"

interface Flags extends ClientFlags, ProgressFlags {
  readonly prompt: string
  readonly noInput: boolean
  readonly plain: boolean
  readonly runtime: Option.Option<RuntimeName>
  readonly model: Option.Option<string>
}

interface SessionExecution {
  readonly project: Project
  readonly settings: Settings
  readonly prompt: string
  /** The user's texts that replace prompt templates, by name. */
  readonly prompts: Readonly<Record<string, string>>
  readonly terminal: boolean
  readonly json: boolean
}

/** The newest session of the same prompt that has not ended: like the open run of a plan, it is continued. */
const findOpenSession = Effect.fnUntraced(function* ({ project, prompt }: SessionExecution) {
  const sessions = yield* allSessions
  return sessions
    .filter((session) => session.prompt === prompt && session.directory === project.root && !isOver(session))
    .sort((a, b) => b.createdAt.localeCompare(a.createdAt))[0]
})

const start = Effect.fnUntraced(function* ({ project, prompt, prompts, settings }: SessionExecution) {
  const messenger = yield* Messenger
  const sessionId = newSessionId()
  const { author, model, permissions, runtime } = settings
  const command = to.sessionManager(sessionId).StartSession({
    prompt,
    runtime,
    ...(model === undefined ? {} : { model }),
    ...(author.variant === undefined ? {} : { variant: author.variant }),
    directory: project.root,
    host: anyHost,
    permissions,
    ...sessionPrompts(prompts),
    limits: sessionLimits(settings),
    stuckAfterMs: settings.limits.stuckAfterMs
  })
  yield* messenger.send(command, { id: `start-${sessionId}`, subject: sessionId })
  return sessionId
})

/** Prints the agent's last lines and what the session used. */
const printResult = Effect.fnUntraced(function* (sessionId: SessionId, lastLines: string | undefined) {
  const { cost, status, tokens, turns } = yield* findSession(sessionId)
  if (lastLines !== undefined) data(visible(lastLines))
  const used = `${turns} turn${turns === 1 ? "" : "s"}, ${tokens.input + tokens.output} tokens, $${cost.toFixed(4)}`
  say(`Session ${sessionId} ${status}: ${used}. Read it: reprise sessions show ${sessionId}`)
})

/** The gate knows it first: the session's view follows the gate's events. */
const findOpenQuestion = Effect.fnUntraced(function* (sessionId: SessionId) {
  const questions = yield* allQuestions
  return questions.find(({ runId, state }) => runId === RunId.make(sessionId) && state === "open")?.escalationId
})

const startOrContinue = Effect.fnUntraced(function* (execution: SessionExecution) {
  const { json, terminal } = execution
  const since = new Date(Date.now() - 1).toISOString()
  const open = yield* findOpenSession(execution)
  const sessionId = open?.sessionId ?? (yield* start(execution))
  const openQuestion = open === undefined ? undefined : yield* findOpenQuestion(sessionId)
  if (!json) say(open === undefined ? `Session ${sessionId}` : `Continuing session ${sessionId}`)
  const { code, lastLines } = yield* followSession(sessionId, {
    terminal,
    json,
    ...(open === undefined ? {} : { since }),
    ...(openQuestion === undefined ? {} : { openQuestion })
  })
  if (!json && code !== exitCodes.waiting && code !== exitCodes.interrupted) yield* printResult(sessionId, lastLines)
  return code
})

const readPrompt = (given: string) =>
  given === "-" ? Effect.promise(() => text(process.stdin)) : Effect.succeed(given)

/** Returns the exit code. When another process did the work and ends, this one takes over. */
const execute = (execution: SessionExecution) =>
  untilBrokerLostOrFull(startOrContinue(execution)).pipe(
    Effect.provide(hostingSystem({ project: execution.project, settings: execution.settings })),
    Effect.retry({ while: isBrokerLost })
  )

export const startSession = (flags: Flags) =>
  withDisplay({ ...flags, asData: false, everyRun: false, idle: "Starting" }, begin(flags)).pipe(
    Effect.provideService(PlainQuestions, flags.plain)
  )

const begin = Effect.fn("startSession")(function* (flags: Flags) {
  const terminal = isInteractive(flags)
  const project = yield* findProject(process.cwd())
  const prompt = yield* readPrompt(flags.prompt)
  if (prompt.trim() === "") {
    return yield* wrongUse("prompt-missing", "The prompt is empty.", `Example: reprise sessions start "do X"`)
  }
  const config = yield* loadConfig(project.root, {
    flags: {
      runtime: Option.getOrUndefined(flags.runtime),
      model: Option.getOrUndefined(flags.model),
      nats: { url: Option.getOrUndefined(flags.nats) }
    }
  })
  const { settings } = config
  yield* requireRuntime(settings.runtime, { openCodeUrl: settings.opencode.url, terminal })
  const needsTrust = trustedSettings(config, [
    "permissions",
    ...serverSettings,
    ...agentSettings,
    ...sandboxSettings,
    ...notifySettings
  ])
  const agents = agentsOf(config, [settings.runtime])
  for (const notice of yield* requireTrust(project, config, needsTrust, { terminal, agents })) say(notice)
  const prompts = yield* readPrompts(project)
  yield* ensureSchemaFile(project)
  const code = yield* execute({ project, settings, prompt, prompts, terminal, json: flags.json })
  if (code !== exitCodes.done) return yield* exitWith(code)
})

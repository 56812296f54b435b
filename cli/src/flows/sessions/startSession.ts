/** `reprise sessions start "do X"`: a session without a plan, with the same gate, limits, permissions and auto-resume. */
import { text } from "node:stream/consumers"
import { defined, RunId, type RuntimeName, type SessionId, type SessionView } from "@reprise/protocol"
import { Effect, Equal, Option } from "effect"
import { ensureSchemaFile } from "../../config/jsonSchema.ts"
import { loadConfig } from "../../config/loadConfig.ts"
import type { Settings } from "../../config/settingsTable.ts"
import { findProject } from "../../project/findProject.ts"
import type { Project } from "../../project/Project.ts"
import { readPrompts } from "../../project/promptTemplates.ts"
import { requireRuntime } from "../../system/agents/runtimes.ts"
import { isBrokerLost } from "../../system/broker/BrokerLost.ts"
import { untilBrokerLostOrFull } from "../../system/broker/broker.ts"
import type { ClientFlags } from "../../system/clientSystem.ts"
import { allQuestions, allSessions, findSession } from "../../system/lookUp/lookUp.ts"
import { newSessionId } from "../../system/names.ts"
import { hostingSystem } from "../../system/System.ts"
import { exitWith, wrongUse } from "../../terminal/CliFailure.ts"
import { exitCodes } from "../../terminal/exitCodes.ts"
import { PlainQuestions } from "../../terminal/fullScreen.ts"
import { data, say } from "../../terminal/Printer.ts"
import { isInteractive } from "../../terminal/readLine.ts"
import { visible } from "../../terminal/visible.ts"
import { agentsOf, requireTrust } from "../../trust/requireTrust.ts"
import { trustedSettings } from "../../trust/trustedSettings.ts"
import { isOver } from "../../views/ended.ts"
import { type ProgressFlags, withDisplay } from "../../views/live/Display.ts"
import { type Beginning, sendStart, usedBySessions, worktreeOf } from "../forks/sendStart.ts"
import { followSession } from "./followSession.ts"

export interface SessionFlags extends ClientFlags, ProgressFlags {
  readonly noInput: boolean
  readonly plain: boolean
  readonly runtime: Option.Option<RuntimeName>
  readonly model: Option.Option<string>
}

interface Task {
  readonly prompt: string
  /** Absent: an empty conversation, in the repository. */
  readonly beginning?: Beginning
  /** The command that continues the session, for a human. */
  readonly again: string
}

interface SessionExecution extends Task {
  readonly project: Project
  readonly settings: Settings
  /** The user's texts that replace prompt templates, by name. */
  readonly prompts: Readonly<Record<string, string>>
  readonly terminal: boolean
  readonly json: boolean
}

const isSame = (session: SessionView, { beginning, project, prompt }: SessionExecution): boolean => {
  const { directory, forkedFrom, sessionId } = session
  if (session.prompt !== prompt || !Equal.equals(forkedFrom, beginning?.point)) return false
  const { repository } = beginning ?? {}
  if (repository !== undefined) return directory === worktreeOf(repository, sessionId)
  return directory === (beginning?.directory ?? project.root)
}

/** The newest session of the same task that has not ended: like the open run of a plan, it is continued. */
const findOpenSession = Effect.fnUntraced(function* (execution: SessionExecution) {
  const sessions = yield* allSessions
  return sessions
    .filter((session) => isSame(session, execution) && !isOver(session))
    .sort((a, b) => b.createdAt.localeCompare(a.createdAt))[0]
})

/** Prints the agent's last lines and what the session used. */
const printResult = Effect.fnUntraced(function* (
  sessionId: SessionId,
  repository: string | undefined,
  lastLines: string | undefined
) {
  const { cost, directory, status, tokens, turns } = yield* findSession(sessionId)
  if (lastLines !== undefined) data(visible(lastLines))
  const used = `${turns} turn${turns === 1 ? "" : "s"}, ${tokens.input + tokens.output} tokens, $${cost.toFixed(4)}`
  say(`Session ${sessionId} ${status}: ${used}. Read it: reprise sessions show ${sessionId}`)
  if (repository !== undefined && status === "completed")
    say(`Its work is in ${directory}, on the branch reprise/${sessionId}.`)
})

/** The gate knows it first: the session's view follows the gate's events. */
const findOpenQuestion = Effect.fnUntraced(function* (sessionId: SessionId) {
  const questions = yield* allQuestions
  return questions.find(({ runId, state }) => runId === RunId.make(sessionId) && state === "open")?.escalationId
})

const startOrContinue = Effect.fnUntraced(function* (execution: SessionExecution) {
  const { again, beginning, json, terminal } = execution
  const since = new Date(Date.now() - 1).toISOString()
  const open = yield* findOpenSession(execution)
  const sessionId = open?.sessionId ?? newSessionId()
  if (open === undefined) yield* sendStart(execution, sessionId)
  const openQuestion = open === undefined ? undefined : yield* findOpenQuestion(sessionId)
  if (!json) say(open === undefined ? `Session ${sessionId}` : `Continuing session ${sessionId}`)
  const { code, lastLines } = yield* followSession(sessionId, {
    terminal,
    json,
    again,
    ...(open === undefined ? {} : { since }),
    ...defined({ openQuestion })
  })
  if (!json && code !== exitCodes.waiting && code !== exitCodes.interrupted) {
    yield* printResult(sessionId, beginning?.repository, lastLines)
  }
  return code
})

export const readPrompt = (given: string) =>
  given === "-" ? Effect.promise(() => text(process.stdin)) : Effect.succeed(given)

/** Returns the exit code. When another process did the work and ends, this one takes over. */
const execute = (execution: SessionExecution) =>
  untilBrokerLostOrFull(startOrContinue(execution)).pipe(
    Effect.provide(hostingSystem({ project: execution.project, settings: execution.settings })),
    Effect.retry({ while: isBrokerLost })
  )

/** On the display, with the questions of the session. */
export const displayed = <A, E, R>(flags: SessionFlags, doing: Effect.Effect<A, E, R>) =>
  withDisplay({ ...flags, asData: false, everyRun: false, idle: "Starting" }, doing).pipe(
    Effect.provideService(PlainQuestions, flags.plain)
  )

export const startSession = (flags: SessionFlags & { readonly prompt: string }) =>
  displayed(
    flags,
    Effect.flatMap(readPrompt(flags.prompt), (prompt) => begin(flags, { prompt, again: "reprise sessions start" }))
  )

/** Starts the session, or continues it, and follows it to its end. */
export const begin = Effect.fn("startSession")(function* (flags: SessionFlags, task: Task) {
  const terminal = isInteractive(flags)
  const project = yield* findProject(process.cwd())
  if (task.prompt.trim() === "") {
    return yield* wrongUse("prompt-missing", "The prompt is empty.", `Example: ${task.again} "do X"`)
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
  const needsTrust = trustedSettings(config, usedBySessions)
  const agents = agentsOf(config, [settings.runtime])
  for (const notice of yield* requireTrust(project, config, needsTrust, { terminal, agents })) say(notice)
  const prompts = yield* readPrompts(project)
  yield* ensureSchemaFile(project)
  const code = yield* execute({ ...task, project, settings, prompts, terminal, json: flags.json })
  if (code !== exitCodes.done) return yield* exitWith(code)
})

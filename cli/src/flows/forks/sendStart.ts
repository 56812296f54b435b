/** Asks the session-manager for a session without a plan: an empty one, or a fork of another. */
import { join } from "node:path"
import { Messenger } from "@reprise/actor"
import { anyHost, defined, type ForkPoint, type Host, type SessionId, sessionPrompts, to } from "@reprise/protocol"
import { Effect } from "effect"
import { sessionLimits } from "../../config/serviceOptions.ts"
import type { Settings } from "../../config/settingsTable.ts"
import type { Project } from "../../project/Project.ts"
import { agentSettings, notifySettings, sandboxSettings, serverSettings } from "../../trust/trustedSettings.ts"

/** Where a new session begins, if not with nothing. */
export interface Beginning {
  readonly point: ForkPoint
  readonly directory: string
  readonly host: Host
  /** A worktree is made for it in this repository. */
  readonly repository?: string
}

/** What a session without a plan is started with. */
export interface Starting {
  readonly prompt: string
  /** Absent: an empty conversation, in the repository. */
  readonly beginning?: Beginning
  readonly project: Project
  readonly settings: Settings
  /** The user's texts that replace prompt templates, by name. */
  readonly prompts: Readonly<Record<string, string>>
}

/** What needs trust of the settings that sessions without a plan use. */
export const usedBySessions = [
  "permissions",
  ...serverSettings,
  ...agentSettings,
  ...sandboxSettings,
  ...notifySettings
] as const

/** Where a fork with a worktree of its own works. */
export const worktreeOf = (repository: string, sessionId: SessionId): string =>
  join(repository, ".reprise", "worktrees", sessionId)

const placeOf = ({ beginning, project }: Starting, sessionId: SessionId) => {
  if (beginning === undefined) return { directory: project.root, host: anyHost }
  const { directory, host, point, repository } = beginning
  return repository === undefined
    ? { directory, host, fork: point }
    : { directory: worktreeOf(repository, sessionId), host, fork: { ...point, repository } }
}

/** Has the session-manager start it, now or as soon as one is at work. Sent again with the same id it starts nothing more. */
export const sendStart = Effect.fnUntraced(function* (execution: Starting, sessionId: SessionId) {
  const { prompt, prompts, settings } = execution
  const messenger = yield* Messenger
  const { author, model, permissions, runtime } = settings
  const command = to.sessionManager(sessionId).StartSession({
    prompt,
    runtime,
    ...defined({ model, variant: author.variant }),
    ...placeOf(execution, sessionId),
    permissions,
    ...sessionPrompts(prompts),
    limits: sessionLimits(settings),
    stuckAfterMs: settings.limits.stuckAfterMs
  })
  yield* messenger.send(command, { id: `start-${sessionId}`, subject: sessionId })
})

/**
 * "Try again from here": forks the session that asks, after its last turn that has ended, in a worktree of its own. The
 * question stays open, and the session that asks stays as it is.
 */

import { continueSentence } from "@reprise/plan/agentTexts"
import type { EscalationView, ForkPoint, SessionId } from "@reprise/protocol"
import { Effect, Option } from "effect"
import { readPrompts } from "../../project/promptTemplates.ts"
import { clientOptions } from "../../system/clientSystem.ts"
import { findRun, findSession } from "../../system/lookUp/lookUp.ts"
import { newSessionId } from "../../system/names.ts"
import { wrongUse } from "../../terminal/CliFailure.ts"
import { agentsOf, requireTrust } from "../../trust/requireTrust.ts"
import { trustedSettings } from "../../trust/trustedSettings.ts"
import { agentOf, beginningOf } from "./beginFork.ts"
import { sendStart, usedBySessions, worktreeOf } from "./sendStart.ts"

export interface WantedFork {
  /** What its agent is told; absent: to go on. */
  readonly words?: string
  /** The turn after which it begins; absent: the last that has ended. */
  readonly at?: number
}

export interface MadeFork {
  readonly sessionId: SessionId
  readonly from: ForkPoint
  readonly directory: string
  readonly branch: string
}

/** The session of whoever asks; of a question without one, that of the run's author. */
const askingSession = Effect.fnUntraced(function* ({ escalationId, evidence, runId, sessionId }: EscalationView) {
  const asking = sessionId ?? evidence.sessionId
  const id = asking ?? (yield* findRun(runId)).authorSessionId
  if (id !== undefined) return yield* findSession(id)
  return yield* wrongUse(
    "nothing-to-fork",
    `No session of ${escalationId} is known, so there is nothing to fork.`,
    "The question stays open."
  )
})

/** `sessionId`: of the fork; given where this may be repeated. Fails with exit code 2 for a session that cannot be forked. */
export const forkAtQuestion = Effect.fn("forkAtQuestion")(function* (
  question: EscalationView,
  { at, words = "" }: WantedFork,
  sessionId = newSessionId()
) {
  const { config, options } = yield* clientOptions({ nats: Option.none() })
  const { project } = options
  const session = yield* askingSession(question)
  const beginning = yield* beginningOf(session, project, { at: Option.fromUndefinedOr(at), worktree: true })
  const agent = agentOf(session, { runtime: Option.none(), model: Option.none() })
  const runtime = Option.getOrElse(agent.runtime, () => config.settings.runtime)
  const settings = { ...config.settings, runtime, model: Option.getOrUndefined(agent.model) }
  yield* requireTrust(project, config, trustedSettings(config, usedBySessions), {
    terminal: false,
    agents: agentsOf(config, [runtime])
  })
  const prompt = words.trim() === "" ? continueSentence : words.trim()
  yield* sendStart({ prompt, prompts: yield* readPrompts(project), settings, beginning, project }, sessionId)
  return {
    sessionId,
    from: beginning.point,
    directory: worktreeOf(beginning.repository ?? project.root, sessionId),
    branch: `reprise/${sessionId}`
  } satisfies MadeFork
})

/** One line for people. */
export const forkedLine = ({ branch, sessionId }: MadeFork): string =>
  `Session ${sessionId} tries again in a worktree, on the branch ${branch}. The question stays open.`

/** Lines for people. */
export const forkedText = (made: MadeFork): string =>
  [
    forkedLine(made),
    `It begins after turn ${made.from.turn} of ${made.from.sessionId}, in ${made.directory}, as soon as 'reprise run' or 'reprise up' is running. 'reprise watch ${made.sessionId}' shows it.`
  ].join("\n")

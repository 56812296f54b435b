/** Asking an author for a turn: in a new session, in the phase's session, or by continuing it. */

import {
  anyHost,
  type SessionChoice,
  type SessionCommand,
  type SessionId,
  type Step,
  sessionIdOf,
  sessionPrompts,
  type TurnLimits,
  turnIdOf
} from "@reprise/protocol"
import type { EventOf, Purpose, RunEvents } from "../actor/journal.ts"
import type { How } from "../actor/moves.ts"
import type { PhaseRun, Run } from "../actor/state.ts"
import { isContinued } from "../checkpoint/prompt.ts"
import { spentTokens } from "../control/usage.ts"
import { currentTitle, placeOf } from "../phase/plan.ts"
import { render } from "../prompts.ts"
import { continuePrompt, freshPrompt, knownPrompt, newGuidance, stepTask } from "./prompt.ts"

type StartTurn = Extract<SessionCommand, { readonly _tag: "StartTurn" }>

/** 0 switches a limit off; a token budget leaves a turn what is left of it. */
export const turnLimits = (run: Run): TurnLimits => {
  const { maxAgentTurns, tokenBudget, turnInactivityMs, turnWallMs } = run.request.options.limits
  const left = tokenBudget + run.granted.tokens - spentTokens(run)
  return {
    ...(turnInactivityMs === 0 ? {} : { inactivityMs: turnInactivityMs }),
    ...(turnWallMs === 0 ? {} : { wallMs: turnWallMs }),
    ...(maxAgentTurns === 0 ? {} : { maxAgentTurns }),
    ...(tokenBudget === 0 ? {} : { maxTokens: Math.max(left, 1) })
  }
}

/** Where an agent works, and as what. */
export const agentPlace = (run: Run) => {
  const { permissions, runtime } = run.request.options
  return { directory: run.directory ?? run.request.workspace, host: run.host ?? anyHost, runtime, permissions }
}

const startTurn = (
  run: Run,
  phase: PhaseRun,
  step: Step,
  turn: Pick<StartTurn, "session" | "prompt" | "onMissing"> & Partial<Pick<StartTurn, "freshPrompt" | "reason">>
): StartTurn => {
  const { model, prompts } = run.request.options
  return {
    _tag: "StartTurn",
    turnId: turnIdOf(run.runId, run.ids.turns + 1),
    ...placeOf(run),
    step,
    role: "author",
    ...agentPlace(run),
    ...(model === undefined ? {} : { model }),
    title: `Phase ${phase.id}: ${currentTitle(run)}`,
    report: "author-status",
    ...sessionPrompts(prompts),
    limits: turnLimits(run),
    ...turn
  }
}

/** A new session, which knows nothing: it is told all. */
const inNewSession = (
  run: Run,
  phase: PhaseRun,
  step: Step,
  purpose: Purpose,
  task?: string
): EventOf<"AuthorAsked"> => ({
  _tag: "AuthorAsked",
  sessionId: sessionIdOf(run.runId, run.ids.sessions + 1),
  purpose,
  continued: false,
  at: run.updatedAt,
  command: startTurn(run, phase, step, {
    session: { _tag: "New" },
    onMissing: "fresh",
    prompt: freshPrompt(run, phase, step, task)
  })
})

/** Why an existing session is used again, as SessionReused shows it. */
const reasons: Readonly<Partial<Record<Step, string>>> = {
  EXECUTE: "execute",
  QUALITY_RETRY: "quality-fix",
  AUTO_FIX: "auto-fix"
}

interface Known {
  readonly purpose: Purpose
  readonly task: string
  readonly reason: string
  readonly continued: boolean
}

const inSession = (
  run: Run,
  phase: PhaseRun,
  step: Step,
  sessionId: SessionId,
  known: Known
): EventOf<"AuthorAsked"> => {
  const session: SessionChoice = { _tag: "Existing", sessionId }
  return {
    _tag: "AuthorAsked",
    sessionId,
    purpose: known.purpose,
    continued: known.continued,
    command: startTurn(run, phase, step, {
      session,
      prompt: knownPrompt(run, phase, known.task),
      // Nobody takes over what is done before it was verified.
      ...(isContinued(phase)
        ? { onMissing: "fail" }
        : { onMissing: "fresh", freshPrompt: freshPrompt(run, phase, step, known.task) }),
      reason: known.reason
    })
  }
}

/** A step's work, in the session that `how` says. */
export const askForWork = (run: Run, phase: PhaseRun, step: Step, how: How): RunEvents => {
  const { author } = phase
  if (how._tag === "continue") return [continueIn(run, phase, step, how)]
  if (how._tag === "fresh" || author?.state !== "usable") return [inNewSession(run, phase, step, "work")]
  return [
    inSession(run, phase, step, author.sessionId, {
      purpose: "work",
      task: stepTask(run, phase, step),
      reason: reasons[step] ?? "work",
      continued: false
    })
  ]
}

/** One more word to the author within a step: what is wrong with its report or its commit. */
export const tellAuthor = (
  run: Run,
  phase: PhaseRun,
  step: Step,
  tell: { readonly purpose: Purpose; readonly task: string; readonly continued: boolean }
): RunEvents => {
  const { author } = phase
  return author?.state === "usable"
    ? [inSession(run, phase, step, author.sessionId, { ...tell, reason: tell.purpose })]
    : [inNewSession(run, phase, step, tell.purpose, tell.task)]
}

/** What a human chose: go on in this very session. Nothing is replaced behind their back. */
const continueIn = (
  run: Run,
  phase: PhaseRun,
  step: Step,
  { brief, sessionId }: Extract<How, { readonly _tag: "continue" }>
): EventOf<"AuthorAsked"> => {
  const guidance = newGuidance(run).join("\n\n")
  const command: EventOf<"AuthorAsked">["command"] =
    brief === undefined
      ? {
          _tag: "ContinueSession",
          turnId: turnIdOf(run.runId, run.ids.turns + 1),
          sessionId,
          phase: phase.id,
          step,
          onMissing: "fail",
          ...(guidance === "" ? {} : { guidance })
        }
      : startTurn(run, phase, step, {
          session: { _tag: "Existing", sessionId },
          onMissing: "fail",
          prompt: continuePrompt(run, brief),
          reason: "continue"
        })
  return { _tag: "AuthorAsked", sessionId, purpose: "continue", continued: true, command }
}

/** The agent went on by itself, or by a human's hand, and is idle now: where does it stand? */
export const askForReport = (run: Run, phase: PhaseRun, step: Step, sessionId: SessionId): RunEvents => [
  {
    _tag: "AuthorAsked",
    sessionId,
    purpose: "report",
    continued: false,
    command: startTurn(run, phase, step, {
      session: { _tag: "Existing", sessionId },
      onMissing: "fail",
      prompt: knownPrompt(run, phase, render(run, "idle-again", { phase: phase.id })),
      reason: "report"
    })
  }
]

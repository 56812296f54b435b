/** Asking an author for a turn: in a new session, in the phase's session, or by continuing it. */
import { defined, type SessionChoice, type SessionId, type Step, sessionPrompts, turnIdOf } from "@reprise/protocol"
import { agentIn, agentOf, roleAt } from "../agents/agentOf.ts"
import { agentSetup } from "../agents/setup.ts"
import { turnLimits } from "../limits/turnLimits.ts"
import {
  continuePrompt,
  freshPrompt,
  idleAgainPrompt,
  knownPrompt,
  movedPrompt,
  newGuidance,
  stepTask
} from "../prompt/author.ts"
import { isContinued } from "../prompt/continuation.ts"
import type { EventOf, Purpose, RunEvents } from "../run/journal.ts"
import type { SessionUse } from "../run/moves.ts"
import { currentTitle, reviewFile } from "../run/plan.ts"
import { hasPlan, livesInSession, newSessionId, placeOf } from "../run/standalone.ts"
import { type Author, isOpen, type PhaseRun, type Run } from "../run/state.ts"

type StartTurn = Extract<EventOf<"AuthorAsked">["command"], { readonly _tag: "StartTurn" }>

const titleOf = (run: Run, phase: PhaseRun): string =>
  hasPlan(run) ? `Phase ${phase.id}: ${currentTitle(run)}` : currentTitle(run)

/** Whose step it is. The author's says nothing. */
const ofFixer = ({ stepRole }: PhaseRun): Pick<StartTurn, "fixer"> => (stepRole === "fixer" ? { fixer: true } : {})

const startTurn = (
  run: Run,
  phase: PhaseRun,
  step: Step,
  turn: Pick<StartTurn, "session" | "prompt" | "onMissing"> &
    Partial<Pick<StartTurn, "freshPrompt" | "reason" | "fresh" | "movedFrom">>
): StartTurn => {
  const agent =
    turn.session._tag === "New" ? agentOf(run, roleAt(run, step)) : agentIn(run, turn.session.sessionId, step)
  return {
    _tag: "StartTurn",
    turnId: turnIdOf(run.runId, run.ids.turns + 1),
    ...placeOf(run, step),
    role: "author",
    ...ofFixer(phase),
    ...agentSetup(run, agent),
    title: titleOf(run, phase),
    report: "author-status",
    ...sessionPrompts(run.request.options.prompts),
    limits: turnLimits(run),
    ...(hasPlan(run) ? { reviewPath: reviewFile(run, phase) } : {}),
    ...turn
  }
}

/** A turn in a new session, which knows nothing yet and gets the full prompt. */
const inNewSession = (
  run: Run,
  phase: PhaseRun,
  step: Step,
  purpose: Purpose,
  task?: string
): EventOf<"AuthorAsked"> => ({
  _tag: "AuthorAsked",
  sessionId: newSessionId(run),
  purpose,
  continued: false,
  at: run.updatedAt,
  command: startTurn(run, phase, step, {
    session: { _tag: "New" },
    ...(livesInSession(run) ? { fresh: true } : {}),
    onMissing: "fresh",
    prompt: freshPrompt(run, phase, step, task)
  })
})

/** A fresh author begins. Nothing needs the session of the one before it any more, if that is another one. */
const takeOver = (run: Run, phase: PhaseRun, step: Step, purpose: Purpose, task?: string): RunEvents => {
  const asked = inNewSession(run, phase, step, purpose, task)
  const { author } = phase
  return author === undefined || !isOpen(author) || author.sessionId === asked.sessionId
    ? [asked]
    : [asked, { _tag: "AuthorReplaced", sessionId: author.sessionId }]
}

/** Why an existing session is used again, as SessionReused shows it. */
const reuseReasons: Readonly<Partial<Record<Step, string>>> = {
  EXECUTE: "execute",
  QUALITY_RETRY: "quality-fix",
  AUTO_FIX: "auto-fix"
}

/** A turn for a session that knows the phase. */
interface KnownTurn {
  readonly purpose: Purpose
  readonly task: string
  readonly reason: string
  readonly continued: boolean
  /** In place of the task and the guidance that is new. */
  readonly prompt?: string
  /** For the runtime session that takes the place of a lost one. */
  readonly whole?: string
}

const inSession = (
  run: Run,
  phase: PhaseRun,
  step: Step,
  sessionId: SessionId,
  turn: KnownTurn
): EventOf<"AuthorAsked"> => {
  const session: SessionChoice = { _tag: "Existing", sessionId }
  const author = phase.author?.sessionId === sessionId ? phase.author : undefined
  return {
    _tag: "AuthorAsked",
    sessionId,
    purpose: turn.purpose,
    continued: turn.continued,
    command: startTurn(run, phase, step, {
      session,
      ...(author?.movedFrom === undefined ? {} : { movedFrom: author.movedFrom }),
      prompt: turn.prompt ?? knownPrompt(run, phase, sessionId, turn.task),
      // No fresh author takes over completed tasks before they are verified.
      ...(isContinued(phase)
        ? { onMissing: "fail" }
        : { onMissing: "fresh", freshPrompt: turn.whole ?? freshPrompt(run, phase, step, turn.task) }),
      reason: turn.reason
    })
  }
}

/** Whether it goes on in its session. */
const isKnown = (author: Author | undefined): author is Author =>
  author?.state === "usable" || author?.state === "moved"

/** Asks for a step's work, in the session that `use` names. */
export const askForWork = (run: Run, phase: PhaseRun, step: Step, use: SessionUse): RunEvents => {
  const { author } = phase
  if (use._tag === "continue") return [continueSession(run, phase, step, use)]
  if (use._tag === "fresh" || !isKnown(author)) return takeOver(run, phase, step, "work")
  const { sessionId } = author
  const known = { purpose: "work", task: stepTask(run, phase, step), continued: false } as const
  if (author.state === "moved") {
    const whole = movedPrompt(run, phase, step)
    return [inSession(run, phase, step, sessionId, { ...known, reason: "host-gone", prompt: whole, whole })]
  }
  const turn: KnownTurn = use.interrupted
    ? { ...known, reason: "resume", prompt: continuePrompt(run, sessionId, "") }
    : { ...known, reason: reuseReasons[step] ?? "work" }
  return [inSession(run, phase, step, sessionId, turn)]
}

/** Tells the author within a step what is wrong with its report or its commit. */
export const tellAuthor = (
  run: Run,
  phase: PhaseRun,
  step: Step,
  tell: { readonly purpose: Purpose; readonly task: string; readonly continued: boolean }
): RunEvents => {
  const { author } = phase
  return author?.state === "usable"
    ? [inSession(run, phase, step, author.sessionId, { ...tell, reason: tell.purpose })]
    : takeOver(run, phase, step, tell.purpose, tell.task)
}

/** A human chose to continue this conversation: where its session is lost, another is told what was saved of it. */
const continueSession = (
  run: Run,
  phase: PhaseRun,
  step: Step,
  { brief, sessionId }: Extract<SessionUse, { readonly _tag: "continue" }>
): EventOf<"AuthorAsked"> => {
  const guidance = newGuidance(run, sessionId).join("\n\n")
  const { model, variant } = agentIn(run, sessionId, step)
  const command: EventOf<"AuthorAsked">["command"] =
    // What is left of a standalone session's budget is told with each turn.
    brief === undefined && hasPlan(run)
      ? {
          _tag: "ContinueSession",
          turnId: turnIdOf(run.runId, run.ids.turns + 1),
          sessionId,
          phase: phase.id,
          step,
          ...ofFixer(phase),
          onMissing: "reconstruct",
          ...defined({ model, variant }),
          limits: turnLimits(run),
          ...(guidance === "" ? {} : { guidance })
        }
      : startTurn(run, phase, step, {
          session: { _tag: "Existing", sessionId },
          onMissing: "reconstruct",
          prompt: continuePrompt(run, sessionId, brief ?? ""),
          reason: "continue"
        })
  return { _tag: "AuthorAsked", sessionId, purpose: "continue", continued: true, command }
}

/** Asks an agent that worked on its own, or that a human prompted, where it stands now that it is idle. */
export const askForReport = (run: Run, phase: PhaseRun, step: Step, sessionId: SessionId): RunEvents => [
  {
    _tag: "AuthorAsked",
    sessionId,
    purpose: "report",
    continued: false,
    command: startTurn(run, phase, step, {
      session: { _tag: "Existing", sessionId },
      onMissing: "fail",
      prompt: idleAgainPrompt(run, phase, sessionId),
      reason: "report"
    })
  }
]

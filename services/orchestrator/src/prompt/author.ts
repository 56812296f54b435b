/** Whole prompts for an author, and their part about the step. */
import { continueSentence, findingLines, guidanceText } from "@reprise/plan/agentTexts"
import { quote } from "@reprise/plan/quote"
import { type GateResult, gateOutput, type SessionId, type Step } from "@reprise/protocol"
import type { PlannedPhase } from "../run/journal.ts"
import { type Ledger, newTo, promptText, wordsFor } from "../run/ledger.ts"
import { currentTitle, plannedPhase } from "../run/plan.ts"
import { hasPlan, idleAgain, ownTask } from "../run/standalone.ts"
import type { PhaseRun, Run } from "../run/state.ts"
import { backgroundText } from "./background.ts"
import { continuationText, isContinued, isInRecord } from "./continuation.ts"
import { checksText, paragraphs, render } from "./templates.ts"

/** The first line of every prompt of a phase. */
const header = (run: Run, phase: PhaseRun): string =>
  `You are the author of phase ${phase.id} of the plan ${run.request.planPath}: ${currentTitle(run)}.`

/** What authors of the phase are told by humans. */
const guidanceOf = ({ ledger, phase }: Run): Ledger => wordsFor(ledger, "author", phase?.id)

/** The guidance that the session was not given yet. */
export const newGuidance = (run: Run, sessionId: SessionId): ReadonlyArray<string> =>
  newTo(guidanceOf(run), sessionId).map(promptText)

/** The end of a prompt: what was said, word for word, by whoever said it. */
const wordsText = (entries: Ledger): string => {
  const checks = entries.filter(({ from }) => from === "checks").map(promptText)
  const said = entries.filter(({ from }) => from !== "checks").map(promptText)
  return paragraphs(guidanceText(said), checksText(checks))
}

/** For a session that knows the phase: the task, and the guidance that is new to it. */
export const knownPrompt = (run: Run, phase: PhaseRun, sessionId: SessionId, task: string): string =>
  paragraphs(header(run, phase), task, wordsText(newTo(guidanceOf(run), sessionId)))

/** What was said for it while it worked is still to be acted upon. */
const idleWork = (run: Run, sessionId: SessionId): string =>
  newGuidance(run, sessionId).length === 0
    ? "Do no further work now, except to commit what is not committed yet."
    : "First act upon what is quoted below, as far as you have not done so, and commit it. Do no other work."

/** For an agent that worked on its own, or that a human prompted, and that is idle again. */
export const idleAgainPrompt = (run: Run, phase: PhaseRun, sessionId: SessionId): string =>
  hasPlan(run)
    ? knownPrompt(run, phase, sessionId, render(run, "idle-again", { phase: phase.id, work: idleWork(run, sessionId) }))
    : paragraphs(idleAgain, guidanceText(newGuidance(run, sessionId)))

/** For a session that knows nothing: the phase, its completed tasks, the task and all guidance of the phase. */
export const freshPrompt = (
  run: Run,
  phase: PhaseRun,
  step: Step,
  task = stepTask(run, phase, step),
  before = ""
): string => {
  const guidance = guidanceOf(run)
  const own = ownTask(run)
  if (own !== undefined) return paragraphs(own, guidanceText(guidance.map(promptText)))
  const values = { ...planValues(run, phase), commit: phase.verified ?? phase.base, base: phase.base }
  const context = step === "EXECUTE" && task === stepTask(run, phase, step) ? "" : render(run, "context", values)
  const unsaid = guidance.filter((entry) => !isInRecord(phase, entry))
  const known = [context, backgroundText(run), continuationText(run, phase), before]
  return paragraphs(header(run, phase), ...known, task, wordsText(unsaid))
}

/** The same for an author that goes on from a host that is gone, and is told what was said there. */
export const movedPrompt = (run: Run, phase: PhaseRun, step: Step): string => {
  const { author, base, id } = phase
  const before = render(run, "phase-moved", { phase: id, host: author?.movedFrom ?? "", base })
  return freshPrompt(run, phase, step, stepTask(run, phase, step), before)
}

/** For a session that a human chose to continue, when its author does not know yet what happened since. */
export const continuePrompt = (run: Run, sessionId: SessionId, brief: string): string =>
  paragraphs(continueSentence, brief, guidanceText(newGuidance(run, sessionId)))

const noneListed = "(none are listed: read the phase's text in the plan)"

const taskLines = (planned: PlannedPhase | undefined): string => {
  const lines = planned?.tasks.map(
    ({ checkpoint, id, name }) => `- ${id}: ${name}${checkpoint === undefined ? "" : ` (checkpoint: ${checkpoint})`}`
  )
  return lines === undefined || lines.length === 0 ? noneListed : lines.join("\n")
}

/** For an author that gets the table of a continuation: a second list would grow with the plan. */
const taskCount = (planned: PlannedPhase | undefined): string =>
  planned === undefined || planned.tasks.length === 0
    ? noneListed
    : `(${planned.tasks.length}; the table shows those around the place to resume, the plan lists all)`

/** What the plan says about a phase, for templates. */
const planValues = (run: Run, phase: PhaseRun) => {
  const planned = plannedPhase(run, phase.id)
  const gate = planned?.completionGate
  return {
    plan_path: run.request.planPath,
    phase: phase.id,
    tasks: isContinued(phase) ? taskCount(planned) : taskLines(planned),
    completion_gate: gate === undefined ? "" : `\n\nThe phase is complete when: ${gate}`
  }
}

/** What a run took from the plan for a phase, whatever the plan's file says by now. */
export const plannedText = (planned: PlannedPhase): string => {
  const { completionGate, id, title } = planned
  const gate = completionGate === undefined ? "" : `\nThe phase is complete when: ${completionGate}`
  return `Phase ${id}: ${title}\nIts tasks:\n${taskLines(planned)}${gate}`
}

const outputOf = (result: GateResult): string => {
  const output = gateOutput(result)
  return output === "" ? "(no output)" : output
}

const failureText = (result: GateResult): string => {
  const end = result.timedOut
    ? "timed out"
    : result.exitCode === null
      ? "could not be run to its end"
      : `exit code ${result.exitCode}`
  return `$ ${result.command}\n${end}; the whole output is in ${result.logRef}\n${quote(outputOf(result))}`
}

export const failedGates = (results: ReadonlyArray<GateResult>): ReadonlyArray<GateResult> =>
  results.filter((result) => result.exitCode !== 0 || result.timedOut)

const dirtyListed = 100

const dirtyLines = (dirty: ReadonlyArray<string>): string => {
  const more = dirty.length - dirtyListed
  const lines = dirty.slice(0, dirtyListed).map((path) => `- ${path}`)
  return [quote(lines.join("\n")), ...(more > 0 ? [`- and ${more} more: \`git status\` lists them`] : [])].join("\n")
}

/** The part about the step. Without review items, AUTO_FIX is about the guidance or the uncommitted files. */
export const stepTask = (run: Run, phase: PhaseRun, step: Step): string => {
  if (step === "QUALITY_RETRY") {
    return render(run, "quality-retry", { failures: paragraphs(...failedGates(phase.gateResults).map(failureText)) })
  }
  if (step === "AUTO_FIX") {
    return phase.dirty.length > 0
      ? render(run, "clean-tree", { dirty: dirtyLines(phase.dirty) })
      : render(run, "auto-fix", {
          cycle: String(phase.reviewCycles),
          items: phase.items.length === 0 ? "(none: follow the guidance below)" : findingLines(phase.items)
        })
  }
  return render(run, "work", planValues(run, phase))
}

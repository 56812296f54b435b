/** Whole prompts for an author, put together of their parts. The first line is always the same for a phase. */
import type { Step } from "@reprise/protocol"
import { currentTitle } from "../phases.ts"
import type { PhaseRun, Run } from "../Run.ts"
import { continuationText, continuationWords } from "./continuation.ts"
import { guidanceText, paragraphs } from "./paragraphs.ts"
import { render } from "./render.ts"
import { planValues, stepTask } from "./steps.ts"

const header = (run: Run, phase: PhaseRun): string =>
  `You are the author of phase ${phase.id} of the plan ${run.request.planPath}: ${currentTitle(run)}.`

/** The guidance that the phase's author session was not given yet. */
export const newGuidance = (run: Run): ReadonlyArray<string> => run.guidance.texts.slice(run.guidance.author)

/** For a session that knows the phase: the task, and the guidance that is new to it. */
export const knownPrompt = (run: Run, phase: PhaseRun, task: string): string =>
  paragraphs(header(run, phase), task, guidanceText(newGuidance(run)))

/** For a session that knows nothing: the phase, what is done of it, the task and all of the phase's guidance. */
export const freshPrompt = (run: Run, phase: PhaseRun, step: Step, task = stepTask(run, phase, step)): string => {
  const values = { ...planValues(run, phase), commit: phase.verified ?? phase.base, base: phase.base }
  const context = step === "EXECUTE" && task === stepTask(run, phase, step) ? "" : render(run, "context", values)
  const guidance = guidanceText([...continuationWords(run, phase), ...run.guidance.texts])
  return paragraphs(header(run, phase), context, continuationText(run, phase), task, guidance)
}

const continueSentence = "Continue the current session and complete all remaining tasks."

/** For a session that a human chose to continue, when something happened since that its author does not know. */
export const continuePrompt = (run: Run, brief: string): string =>
  paragraphs(continueSentence, brief, guidanceText(newGuidance(run)))

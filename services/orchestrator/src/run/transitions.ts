/**
 * Every transition from one step to another (docs/design/run-machine.md#the-run-machine-orchestrator).
 * `StepStarted.cause` names one of these. The machine records nothing that these tables lack, and
 * `docs/reference/run-machine.md` is drawn from them.
 */
import type { EscalationOrigin, RunStatus, Step } from "@reprise/protocol"

/** The steps in which an author works. */
const authorSteps = ["EXECUTE", "QUALITY_RETRY", "AUTO_FIX"] as const satisfies ReadonlyArray<Step>
export const isAuthorStep = (step: Step | undefined): boolean => authorSteps.some((one) => one === step)

/** Whether a step counts towards the limits of visits and steps: those that take an agent or a machine time. */
export const isCounted = (step: Step): boolean => step !== "PREPARE" && step !== "PHASE_COMPLETE"

/** Where a run is before its first step. */
type Source = Step | "start"

interface Transition {
  /**
   * `question`: any step that a human, or auto mode in their place, decides about. `pause`: the one that was paused.
   * `itself`: the same step begins again.
   */
  readonly from: ReadonlyArray<Source> | "question" | "pause" | "itself"
  readonly to: ReadonlyArray<Step>
  readonly when: string
  /** A human chose it, or it has a limit of its own: it does not count towards the limit of visits. */
  readonly uncounted?: true
}

const retried = [...authorSteps, "QUALITY_CHECK", "REVIEW", "CHECKPOINT", "PHASE_GATE"] as const

export const transitions = {
  "run-started": { from: ["start"], to: ["PREPARE"], when: "the plan is valid and has a phase to do" },
  "host-gone": {
    from: [...retried, "PHASE_COMPLETE"],
    to: ["PREPARE"],
    when: "the host is gone for good, and the code has a remote: the phase begins again elsewhere"
  },
  "host-drained": {
    from: ["PHASE_COMPLETE"],
    to: ["PREPARE"],
    when: "the host takes no new runs, and what was done is pushed: the next phase begins elsewhere"
  },
  "phase-started": {
    from: ["PREPARE", "PHASE_COMPLETE"],
    to: ["EXECUTE"],
    when: "the plan has a phase that is not approved: fresh author"
  },
  "work-verified": {
    from: ["EXECUTE"],
    to: ["QUALITY_CHECK", "REVIEW"],
    when: "the author is done and its commit verified; straight to the review where there are no gates"
  },
  fixed: {
    from: ["QUALITY_RETRY", "AUTO_FIX"],
    to: ["QUALITY_CHECK", "REVIEW"],
    when: "the author is done; a commit, if it made one, is verified"
  },
  "gates-passed": { from: ["QUALITY_CHECK"], to: ["REVIEW"], when: "all quality gates pass" },
  "gates-failed": { from: ["QUALITY_CHECK"], to: ["QUALITY_RETRY"], when: "a quality gate fails and a retry is left" },
  "verdict-ready": { from: ["REVIEW"], to: ["PHASE_GATE"], when: "the verdict is ready" },
  "items-to-fix": { from: ["REVIEW"], to: ["AUTO_FIX"], when: "the author can fix every finding" },
  "verdict-of-another-commit": {
    from: ["REVIEW"],
    to: ["REVIEW"],
    when: "the verdict is about another commit than the verified one"
  },
  "review-broke": {
    from: ["REVIEW"],
    to: ["REVIEW"],
    when: "the review failed or its verdict was invalid, for the first time in a row: fresh reviewer"
  },
  "reviewer-idle": {
    from: ["REVIEW"],
    to: ["REVIEW"],
    when: "a human has worked in the session of the reviewer who asked, and its agent is idle again"
  },
  "words-unread": {
    from: ["REVIEW"],
    to: ["REVIEW"],
    when: "the verdict is ready, but the reviewer has not read what a human said to it during the review",
    uncounted: true
  },
  "head-moved": {
    from: ["PHASE_GATE"],
    to: ["QUALITY_CHECK", "REVIEW"],
    when: "HEAD is newer than the approved commit: the new commits are verified and reviewed too"
  },
  checkpoint: {
    from: authorSteps,
    to: ["CHECKPOINT"],
    when: "the author stops at a checkpoint, or goes past one of the plan again after it was told; what it claims is verified"
  },
  "checkpoint-resolved": {
    from: ["CHECKPOINT"],
    to: authorSteps,
    when: "the checkpoint is resolved, and the completed tasks are verified: fresh author",
    uncounted: true
  },
  "tree-clean": {
    from: ["PHASE_GATE"],
    to: ["PHASE_COMPLETE"],
    when: "the phase is approved and the working tree is clean"
  },
  continue: {
    from: "question",
    to: authorSteps,
    when: "a human chose to continue the author's session",
    uncounted: true
  },
  fix: {
    from: "question",
    to: retried,
    when: "a human chose to begin the step again in a new session",
    uncounted: true
  },
  "auto-retry": { from: "question", to: retried, when: "as fix, in auto mode, while a retry is left" },
  override: { from: "question", to: ["PHASE_COMPLETE"], when: "a human approved the phase as it is" },
  "session-lost": {
    from: "itself",
    to: authorSteps,
    when: "the author's session has ended or is gone: fresh author, once the completed tasks are verified"
  },
  resumed: {
    from: "pause",
    to: retried,
    when: "a pause interrupted the step, or the gate had refused its question",
    uncounted: true
  }
} as const satisfies Record<string, Transition>

export type Cause = keyof typeof transitions

/** Whether the table has this way. */
export const isTransition = (from: Step | undefined, cause: Cause, to: Step): boolean => {
  const { from: sources, to: targets }: Transition = transitions[cause]
  if (sources === "itself") return from === to && targets.includes(to)
  const starts = sources === "question" || sources === "pause" || sources.some((step) => step === (from ?? "start"))
  return starts && targets.some((step) => step === to)
}

const causes: ReadonlyArray<string | undefined> = Object.keys(transitions)
export const isCause = (text: string | undefined): text is Cause => causes.includes(text)

/** Whether a step that begins so counts towards its limit of visits. */
export const isCountedVisit = (cause: string | undefined): boolean => {
  if (!isCause(cause)) return true
  const { uncounted }: Transition = transitions[cause]
  return uncounted !== true
}

interface Asking {
  /** The steps that may wait for this. */
  readonly at: ReadonlyArray<Step>
  readonly when: string
}

const worked = [...authorSteps, "REVIEW"] as const

/** What a human is asked about, by the question's origin, and the steps that wait for the answer. */
export const questions = {
  author: {
    at: authorSteps,
    when: "the author needs a human or has failed, or its corrected report still breaks a rule"
  },
  reviewer: {
    at: ["REVIEW"],
    when: "the verdict needs a human or has nothing to act on, or the review failed again with a fresh reviewer"
  },
  quality: { at: ["QUALITY_CHECK"], when: "a quality gate fails and no retry is left" },
  commit: {
    at: [...authorSteps, "PHASE_GATE", "PHASE_COMPLETE"],
    when: "the author's commit was rejected a second time, or the working tree is not clean"
  },
  limit: { at: retried, when: "a limit of the run or of the phase is reached" },
  plan: { at: ["PHASE_COMPLETE"], when: "the plan was edited so that the run cannot go on" },
  runtime: {
    at: [...retried, "PHASE_COMPLETE"],
    when: "the author's turn failed or timed out, its agent is gone, or what the run waits for is not under way"
  },
  checkpoint: { at: ["CHECKPOINT"], when: "a checkpoint waits to be resolved" },
  continuation: { at: retried, when: "work that was reported as done is missing in the repository" },
  permission: { at: worked, when: "the agent asks for permission during its turn" },
  question: { at: worked, when: "the agent asks a question during its turn" },
  "phase-gate": { at: ["PHASE_GATE"], when: "gates.phase is human" },
  workspace: { at: [...retried, "PHASE_COMPLETE"], when: "the workspace could not do what it was asked" }
} as const satisfies Record<EscalationOrigin, Asking>

/** Whether a step may wait for the answer to a question of this origin. */
export const isQuestion = (at: Step | undefined, origin: EscalationOrigin): boolean => {
  const asking: Asking = questions[origin]
  return asking.at.some((step) => step === at)
}

type Ending = Extract<RunStatus, "completed" | "failed" | "aborted">

interface End {
  readonly from: ReadonlyArray<Source> | "question"
  readonly when: string
}

/** How runs end. Besides, a human may abort one at any time. */
export const endings = {
  completed: { from: ["start", "PHASE_COMPLETE"], when: "no phase is left, and SUMMARY.md is written" },
  failed: { from: ["start", "PREPARE"], when: "the plan cannot be read, or the workspace cannot be used" },
  aborted: { from: "question", when: "a human chose so, or auto mode gave up" }
} as const satisfies Record<Ending, End>

/** Whether a run may end like this at a step. */
export const isEnding = (at: Step | undefined, ending: Ending): boolean => {
  const { from }: End = endings[ending]
  return from === "question" || from.some((step) => step === (at ?? "start"))
}

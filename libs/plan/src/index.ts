/**
 * Plan markdown, the continuation record and the summary: pure functions from texts to data and back.
 *
 * `parsePlan` reads a plan or gives all its problems; `taskList` names its tasks; `samePrefix` says whether a run can
 * continue with an edited plan; `resumeAt` and `ContinuationState` serve a fresh author after a checkpoint;
 * `taskResults` and `renderSummary` write SUMMARY.md; `template` and `renderTemplate` make prompts. No function here
 * reads a clock or a file, and parsers return a `Result` instead of throwing.
 */
export {
  ContinuationState,
  ContinuationStateRefused,
  continuationState,
  decodeContinuationState,
  encodeContinuationState
} from "./continuation/ContinuationState.ts"
export { isPass, type ResumePoint, resumeAt, UnknownTask } from "./continuation/resumeAt.ts"
export { Position } from "./markdown/Position.ts"
export { maxPlanLength } from "./markdown/refuseText.ts"
export { parsePlan } from "./parsing/parsePlan.ts"
export { FrontMatter, PlanGates, PlanId, PlanLimits } from "./plan/FrontMatter.ts"
export { Phase, Plan, Task } from "./plan/Plan.ts"
export { formatPlanProblem, PlanProblem, PlanProblemCode } from "./plan/PlanProblem.ts"
export {
  besideState,
  continuationStatePath,
  planIdOf,
  planSlug,
  reviewPath,
  slugOf,
  summaryPath
} from "./plan/planPaths.ts"
export { PhaseOutline, PlanChange, PlanOutline, planOutline, type SamePrefix, samePrefix } from "./plan/samePrefix.ts"
export { type Identified, nextTask, taskList } from "./plan/tasks.ts"
export { renderSummary } from "./summary/renderSummary.ts"
export { Summary, TaskResult, TaskStatus, Usage } from "./summary/Summary.ts"
export { type PhaseApproval, type ReachedCheckpoint, taskResults } from "./summary/taskResults.ts"
export {
  renderTemplate,
  type Template,
  type TemplateProblem,
  template,
  templateProblems,
  type ValuesOf
} from "./Template.ts"

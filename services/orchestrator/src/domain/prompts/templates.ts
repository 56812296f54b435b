/**
 * Every prompt template for authors. None of them speaks of the report's format: the session-manager asks for the report
 * afterwards, and its prompt is recognised by that.
 */
import { autoFix } from "./templates/autoFix.ts"
import { cleanTree } from "./templates/cleanTree.ts"
import { commitRejected } from "./templates/commitRejected.ts"
import { context } from "./templates/context.ts"
import { continuation } from "./templates/continuation.ts"
import { idleAgain } from "./templates/idleAgain.ts"
import { qualityRetry } from "./templates/qualityRetry.ts"
import { reportCorrection } from "./templates/reportCorrection.ts"
import { work } from "./templates/work.ts"

export const templates = {
  work,
  "quality-retry": qualityRetry,
  "auto-fix": autoFix,
  "clean-tree": cleanTree,
  "commit-rejected": commitRejected,
  "report-correction": reportCorrection,
  "idle-again": idleAgain,
  context,
  continuation
} as const

export type TemplateName = keyof typeof templates

/**
 * The texts that the session-manager itself sends to agents (sessions: Turns). Pure. Report prompts ask for one fenced
 * JSON block and show its shape; what a run wants done is in the work prompts of orchestrator and reviewer.
 */
import { renderTemplate } from "@reprise/plan/template"
import type { ReportForm, ReportKind, SessionPrompts } from "@reprise/protocol"
import { report } from "./templates/report.ts"
import { reportUnreadable } from "./templates/reportUnreadable.ts"

export const templates = [report, reportUnreadable] as const

/** The first words of every prompt that goes on in the same session. */
const goOn = "Continue the current session and complete all remaining tasks."

/** Continue, with what a human adds, word for word (run-machine: ESCALATE, continue-session). */
export const continuePrompt = (guidance?: string): string =>
  guidance === undefined || guidance.trim() === ""
    ? goOn
    : `${goOn}\n\nThe user has provided the following additional guidance:\n${guidance}`

/** A whole prompt for a fresh session, with the guidance that was meant for the old one. */
export const withGuidance = (wholePrompt: string, guidance?: string): string =>
  guidance === undefined || guidance.trim() === ""
    ? wholePrompt
    : `${wholePrompt}\n\nThe user has provided the following additional guidance:\n${guidance}`

/** A whole prompt for a fresh session that takes another's place, with the words of that one. */
export const withContext = (wholePrompt: string, context?: string): string =>
  context === undefined
    ? wholePrompt
    : `${wholePrompt}\n\nAn earlier session worked on this and is lost. What was said in it follows, for your information; results of tools that no longer hold are left out. Look at what is there before you do anything again.\n\n${context}`

const interruptions = {
  unfinished: "Your last turn was interrupted before you were done.",
  "turn-limit": "Your last turn reached its limit before you were done."
} as const

/** For a turn that stopped half-way: what was begun may have been done already. */
export const continuationPrompt = (why: keyof typeof interruptions): string =>
  `${goOn}\n\n${interruptions[why]} Look at what is there already before you repeat a step that changes something.`

const fence = "```"

const authorShape = `${fence}json
{
  "result": "complete",
  "commit": "<full hash of the last commit of this turn>",
  "reason": "<one or two sentences>",
  "notes": "<what the reviewer should know>",
  "completedTasks": [{ "id": "<task id>", "commit": "<full hash>", "files": ["<path>"] }],
  "checkpoint": {
    "task": "<task id>",
    "type": "human-verify",
    "description": "<what it is about>",
    "options": [{ "id": "<short id>", "label": "<text>", "recommended": true }],
    "verifySteps": ["<step>"],
    "requiredAction": "<what the human must do>"
  }
}
${fence}`

const authorRules = `- result, one of:
  - "complete": everything you were asked for is done and committed.
  - "needs_human": you cannot go on without a decision or an answer. Say in reason what you need to know.
  - "failed": you tried, and it cannot be done like this. Say in reason why.
  - "checkpoint": you stopped at a checkpoint of the plan, or you found that an architectural change is needed. Fill in checkpoint.
- commit: required when you committed anything. Never invent a hash: take it from git.
- reason: required unless result is "complete".
- notes: findings of the reviewer that you decline, each with your reason, and anything else worth knowing. May be left out.
- completedTasks: one entry for each task of the plan that you finished in this turn. May be left out when there is none.
- checkpoint: only with "checkpoint". type is one of "human-verify", "decision", "human-action", "architectural-change"; options belong to a decision, verifySteps to human-verify, requiredAction to human-action.`

const verdictShape = `${fence}json
{
  "readiness": "not_ready",
  "items": [
    { "id": "R1", "title": "<one line>", "action": "auto_fix", "reason": "<why, and where>", "priority": "P1" }
  ],
  "summary": "<two or three sentences>"
}
${fence}`

const verdictRules = `- readiness, one of:
  - "ready": the phase can be approved as it is.
  - "ready_with_corrections": it can be approved once the listed items are corrected.
  - "not_ready": it cannot be approved.
- items: every finding that is still open, each with an id of its own. An empty list when there is none.
  - action: "auto_fix" if the author can fix it without asking anybody, "human_required" if a human must decide.
  - priority: "P0" wrong or dangerous, "P1" to be fixed before approval, "P2" worth doing.
- summary: may be left out.`

const shapes = {
  "author-status": { what: "what you did", shape: authorShape, rules: authorRules },
  verdict: { what: "your verdict", shape: verdictShape, rules: verdictRules }
} as const satisfies Record<ReportKind, unknown>

const dataRules =
  "- The block above is the JSON schema of the report. Answer with one JSON object that fits it, not with the schema."

const shapeOf = (form: ReportForm) =>
  typeof form === "string"
    ? shapes[form]
    : {
        what: shapes["author-status"].what,
        shape: `${fence}json\n${JSON.stringify(form, null, 2)}\n${fence}`,
        rules: dataRules
      }

/** Whether one of our own prompts for a report of a run's turn; a user's text in its place shows the same shape. */
export const asksForReport = (text: string): boolean => Object.values(shapes).some(({ shape }) => text.includes(shape))

/** Asks for the report of a turn. */
export const reportPrompt = (form: ReportForm, prompts: SessionPrompts = {}): string =>
  renderTemplate(report, shapeOf(form), prompts.report)

/** Asks once more, naming what was wrong. */
export const correctionPrompt = (form: ReportForm, problem: string, prompts: SessionPrompts = {}): string =>
  renderTemplate(reportUnreadable, { ...shapeOf(form), problem }, prompts["report-unreadable"])

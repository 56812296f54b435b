/**
 * The texts that the session-manager itself sends to agents (docs/design/sessions.md#turns). The work is described by the
 * prompts of orchestrator and reviewer; the session-manager adds how it is to be reported: as one fenced JSON block,
 * whose shape it shows.
 */
import { continueSentence, guidanceText } from "@reprise/plan/agentTexts"
import { quote } from "@reprise/plan/quote"
import { renderTemplate, template } from "@reprise/plan/template"
import type { ReportForm, ReportKind, SessionPrompts } from "@reprise/protocol"
import type { SessionSettings } from "./settings.ts"

const reportVariables = {
  what: "'what you did' for an author, 'your verdict' for a reviewer.",
  shape: "The shape of the report, as a fenced block.",
  rules: "The meaning of its fields, one a line."
} as const

const reportWithWork = template({
  name: "report-with-work",
  sent: "to authors and reviewers at the end of each prompt, to get their report in the same turn",
  variables: reportVariables,
  required: ["shape", "rules"],
  text: `When you are done, or cannot go on without a human, report {what}: end your last message with one fenced JSON block of this shape, and write nothing after it:

{shape}

{rules}`
})

const report = template({
  name: "report",
  sent: 'to authors and reviewers whose work ended without a report, or, with sessions.report = "asked", after each turn',
  variables: reportVariables,
  required: ["shape", "rules"],
  text: `Now report {what}. Do no more work. Answer with one fenced JSON block of this shape and nothing else:

{shape}

{rules}`
})

const reportUnreadable = template({
  name: "report-unreadable",
  sent: "to an agent whose report could not be read",
  variables: { ...reportVariables, problem: "Why it could not be read, in a line that begins with `>`." },
  required: ["shape", "problem"],
  text: `Your report could not be read:

{problem}

Send it again, corrected, as one fenced JSON block of this shape and nothing else:

{shape}

{rules}`
})

const uncommittedChanges = template({
  name: "uncommitted-changes",
  sent: "to an author that begins in a new session while something in the working tree is not committed",
  variables: {
    changes:
      "How much is changed, and the changed and untracked files, one a line that begins with `>`, as git tells now."
  },
  required: ["changes"],
  text: `The working tree holds changes that nobody has committed. They may be the unfinished work of an agent before you that was cut short. Before you change anything, look at them with \`git status\` and \`git diff HEAD\`: keep what belongs to your task and is right, undo what belongs to it and is wrong, and leave everything else as it is.

{changes}`
})

export const templates = [reportWithWork, report, reportUnreadable, uncommittedChanges] as const

/** A prompt with the guidance of a human, verbatim. */
export const withGuidance = (prompt: string, guidance?: string): string =>
  guidance === undefined || guidance.trim() === "" ? prompt : `${prompt}\n\n${guidanceText([guidance])}`

/** A continue, with a human's guidance verbatim (docs/design/sessions.md#turns). */
export const continuePrompt = (guidance?: string): string => withGuidance(continueSentence, guidance)

/** The whole prompt for a session that replaces another, with the conversation of that one. */
export const withEarlierConversation = (wholePrompt: string, conversation?: string): string =>
  conversation === undefined
    ? wholePrompt
    : `${wholePrompt}\n\nAn earlier session worked on this and is lost. Its conversation follows, for your information, without the contents of files that have changed since; what commands printed may no longer hold: in lines that begin with \`>\`, after one that says who spoke. Look at what is already done before you do anything again.\n\n${conversation}`

/** The prompt for a fork that its runtime could not copy, with the conversation that it begins with. */
export const withForkedConversation = (prompt: string, conversation?: string): string =>
  conversation === undefined
    ? prompt
    : `${prompt}\n\nYou go on from a conversation that was held elsewhere, and this is what was said and done in it until now, without the contents of files that have changed since; what commands printed may no longer hold: in lines that begin with \`>\`, after one that says who spoke.\n\n${conversation}`

const uncommittedHeading = "## Uncommitted changes"

/** The prompt for a new session, with what its agent finds uncommitted (`changes`). */
export const withUncommitted = (prompt: string, changes: string, prompts: SessionPrompts = {}): string =>
  `${prompt}\n\n${uncommittedHeading}\n\n${renderTemplate(uncommittedChanges, { changes }, prompts["uncommitted-changes"])}`

/** What was uncommitted at an earlier time says nothing about the present. */
const withoutUncommitted = (prompt: string): string => {
  const start = prompt.lastIndexOf(`\n\n${uncommittedHeading}\n\n`)
  return start > 0 ? prompt.slice(0, start) : prompt
}

const interruptions = {
  unfinished: "Your last turn was interrupted before you were done.",
  "turn-limit": "Your last turn reached its limit before you were done."
} as const

/** For a turn that stopped half-way: its last step may be done already. */
export const continuationPrompt = (why: keyof typeof interruptions): string =>
  `${continueSentence}\n\n${interruptions[why]} Look at what is already done before you repeat a step that changes something.`

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
    "description": "<what the human should know>",
    "options": [{ "id": "<short id>", "label": "<text>", "recommended": true }],
    "verifySteps": ["<step>"],
    "requiredAction": "<what the human must do>"
  }
}
${fence}`

const authorRules = `- result, one of:
  - "complete": everything you were asked for is done and committed.
  - "needs_human": you cannot continue without a decision or an answer. Say in reason what you need to know.
  - "failed": you tried, and it cannot be done like this. Say in reason why.
  - "checkpoint": you stopped at a checkpoint of the plan, or you found that an architectural change is needed. Fill in checkpoint.
- commit: required when you committed anything. Never invent a hash: take it from git.
- reason: required unless result is "complete".
- notes: findings of the reviewer that you decline, each with your reason, and anything else worth knowing. Optional.
- completedTasks: one entry for each task of the plan that you finished in this turn. Optional when there is none.
- checkpoint: only with "checkpoint". Its type is one of "human-verify", "decision", "human-action", "architectural-change"; options belong to a decision, verifySteps to human-verify, requiredAction to human-action.`

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
- summary: optional.`

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

/** Whether a prompt asks for a report; a user's own template for it shows the same shape. */
const asksForReport = (text: string): boolean => Object.values(shapes).some(({ shape }) => text.includes(shape))

const reportLater = "The report itself is asked for in the next prompt."

/** Stands before each request, and in no user's text: there the prompt for the work ends. */
const reportHeading = "## Your report"

/** The end of each prompt for work: how the agent reports. */
export const reportRequest = (
  form: ReportForm,
  when: SessionSettings["report"],
  prompts: SessionPrompts = {}
): string => {
  const request =
    when === "asked" ? reportLater : renderTemplate(reportWithWork, shapeOf(form), prompts["report-with-work"])
  return `${reportHeading}\n\n${request}`
}

export const withReportRequest = (prompt: string, ...how: Parameters<typeof reportRequest>): string =>
  `${prompt}\n\n${reportRequest(...how)}`

/** The prompt as it was before the session-manager added to it; undefined: nothing is left. */
export const withoutReportRequest = (prompt: string): string | undefined => {
  const start = prompt.lastIndexOf(`\n\n${reportHeading}\n\n`)
  if (start > 0) return withoutUncommitted(prompt.slice(0, start))
  return asksForReport(prompt) ? undefined : prompt
}

/** Asks for the report of a turn. */
export const reportPrompt = (form: ReportForm, prompts: SessionPrompts = {}): string =>
  renderTemplate(report, shapeOf(form), prompts.report)

/** Asks again for a report that could not be read, with the reason. */
export const correctionPrompt = (form: ReportForm, problem: string, prompts: SessionPrompts = {}): string =>
  renderTemplate(reportUnreadable, { ...shapeOf(form), problem: quote(problem) }, prompts["report-unreadable"])

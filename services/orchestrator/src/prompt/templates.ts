/**
 * Every prompt template for authors, and the text functions that prompts are built with. No template says how to report:
 * the session-manager adds that to every prompt.
 */
import { quote } from "@reprise/plan/quote"
import { renderTemplate, type Template, template, type ValuesOf } from "@reprise/plan/template"
import type { Run } from "../run/state.ts"

/** Variables that several templates share: what the plan says about a phase. */
const planVariables = {
  plan_path: "Path of the plan in the workspace.",
  phase: "The phase's number.",
  tasks: "The phase's tasks, one per line.",
  completion_gate: "Empty, or a blank line followed by the phase's completion gate from the plan."
} as const

const needsHuman = "If you cannot go on without a human, stop and say clearly why."
const oneCommitPerTask = "Make one commit for each task that you do."

/** The end of the templates for work that fixes something. */
const closing = `Commit your work before you stop, and leave no uncommitted changes behind.
${needsHuman}`

const work = template({
  name: "work",
  sent: "to an author, to carry out a phase",
  variables: planVariables,
  required: [],
  text: `Read the plan {plan_path} and carry out its phase {phase}, and nothing that belongs to other phases.

The tasks of this phase:
{tasks}{completion_gate}

A task that is marked as a checkpoint needs a human, unless you are told that a human has answered there. For human-verify: do and commit the task, then stop. For any other kind: stop before the task. Do nothing that comes after it. Also stop if you find that the architecture has to change.

${oneCommitPerTask} Leave no uncommitted changes behind.
Before you report, check your own work: \`git log\` has every commit that you name, the commit of a task holds its files, \`git status\` is clean, and what the phase is complete with holds.
${needsHuman}`
})

const qualityRetry = template({
  name: "quality-retry",
  sent: "to the author when quality gates have failed",
  variables: {
    failures:
      "Each failed command with its exit code, its log file and the beginning and end of its output, in lines that begin with `>`."
  },
  required: ["failures"],
  text: `Your work was committed, but these quality gates fail. Find the cause and fix it, without weakening any gate.

{failures}

${closing}`
})

const autoFix = template({
  name: "auto-fix",
  sent: "to the author when a review has found something to fix",
  variables: {
    cycle: "How often this phase has been reviewed.",
    items: "The items of the review, as the reviewer wrote them, in lines that begin with `>`."
  },
  required: ["items"],
  text: `Review cycle {cycle} of this phase raised the following items. Work on every one of them.

{items}

If you are convinced that an item is wrong, leave it and give your reason: the reviewer will be told.

${closing}`
})

const cleanTree = template({
  name: "clean-tree",
  sent: "to the author when an approved phase cannot be finished because files are not committed",
  variables: { dirty: "The uncommitted files, one per line, each of which begins with `>`." },
  required: ["dirty"],
  text: `The phase is approved, but the working tree is not clean. These files have uncommitted changes:

{dirty}

Commit what belongs to the phase, and remove or restore the rest.

${closing}`
})

const commitRejected = template({
  name: "commit-rejected",
  sent: "to the author whose reported commit was rejected",
  variables: {
    commit: "The commit as it was reported.",
    reason: "The code of the reason, such as missing or unreachable.",
    detail: "The reason in a sentence, in a line that begins with `>`.",
    base: "The commit that the work began from."
  },
  required: ["detail"],
  text: `The commit {commit} that you reported was rejected ({reason}):

{detail}

Fix this: the commit must exist, be reachable from HEAD, be newer than {base} and contain your work, and nothing may be left uncommitted. Commit what is missing, and report the hash of your newest commit.

${closing}`
})

const claimsRejected = template({
  name: "claims-rejected",
  sent: "to the author who stopped at a checkpoint with a report that the repository contradicts",
  variables: {
    reason: "The code of the reason, such as missing or shared.",
    detail: "The reason in a sentence, in a line that begins with `>`.",
    base: "The commit that the phase began from."
  },
  required: ["detail"],
  text: `What you reported at the checkpoint does not hold ({reason}):

{detail}

Correct this: the commit of each completed task must exist, be reachable from HEAD, be newer than {base} and belong to that task alone, and nothing may be left uncommitted. Then report once more, complete and true.`
})

const checkpointMissed = template({
  name: "checkpoint-missed",
  sent: "to the author who reports the phase as complete, or stops at a later task, past a checkpoint that no human has answered",
  variables: { checkpoints: "The checkpoints, one per line, each of which begins with `>`." },
  required: ["checkpoints"],
  text: `You have gone past checkpoints of the plan that no human has answered:

{checkpoints}

Do no further work. Stop at the first of them: report it as a checkpoint, with what the human needs to know. A human is asked there in any case.`
})

const reportCorrection = template({
  name: "report-correction",
  sent: "to the author whose report contradicts itself",
  variables: { problem: "What is wrong with the report, in a line that begins with `>`." },
  required: ["problem"],
  text: `Your last report cannot be used:

{problem}

Do no further work unless the report shows that some is missing. Report once more, complete and true.`
})

const idleAgain = template({
  name: "idle-again",
  sent: "to an author who went on working by itself while a human was asked, and is idle again",
  variables: { phase: "The phase's number.", work: "What else to do: nothing, or what a human has said meanwhile." },
  required: [],
  text: `You have worked in this session since the run stopped to ask a human, and are idle again. {work}

Report where phase {phase} stands, complete and true.`
})

const background = template({
  name: "background",
  sent: "to every fresh author, before the task",
  variables: {
    summaries: "Empty, or a blank line and the paths of the summaries of the phases before.",
    decisions: "Empty, or a blank line and what humans have decided at the checkpoints of the run, newest last."
  },
  required: ["summaries", "decisions"],
  text: `Read what the project says about itself, where it exists: \`CONTEXT.md\` and \`STATE.md\`, in the root of the repository or in \`.planning/\`.{summaries}{decisions}`
})

const context = template({
  name: "context",
  sent: "to a fresh author before the prompt of any step but the first",
  variables: {
    ...planVariables,
    commit: "The newest verified commit of the phase.",
    base: "The commit that the phase began from."
  },
  required: [],
  text: `Other agents have worked on this phase before you. Their work is committed up to {commit}; the phase began at {base}. Before you go on, read the plan {plan_path} and the changes since the phase began.

The tasks of this phase:
{tasks}{completion_gate}`
})

const continuation = template({
  name: "continuation",
  sent: "to a fresh author of a phase that is partly done",
  variables: {
    plan_path: "Path of the plan in the workspace.",
    state_path: "Path of the record of completed tasks.",
    done: "A table of the tasks around the place to resume, whose lines begin with `>`, and how many are not shown.",
    resolution: "Empty, or the human's decision, in lines that begin with `>`, and a blank line.",
    resume: "Empty, or where to resume and a blank line.",
    findings: "Empty, or the open findings of the last review and a blank line."
  },
  required: ["done", "resolution", "resume"],
  text: `Part of this phase was done by other agents before you, and was verified. Read the plan {plan_path} and the record of completed tasks, {state_path}.

{done}

{resolution}{resume}{findings}Before you go on:
1. Verify with \`git log\` that the commits in the record exist, and that its files are there. If any is missing, stop and report which: do not recreate it.
2. Do not redo a task that is complete.
3. ${oneCommitPerTask}`
})

const phaseMoved = template({
  name: "phase-moved",
  sent: "to an author whose host is gone, before the task, with what was saved of its conversation",
  variables: {
    phase: "The phase's number.",
    host: "The host that is gone.",
    base: "The commit from which the phase begins again."
  },
  required: ["base"],
  text: `Phase {phase} begins again on another host, because host {host} is gone. What was not pushed is lost, and the working tree, which may be in another directory than before, is at {base}. Do the phase from there. What you know of the code, what was decided and what was tried still helps; what an earlier conversation says of files, commits and commands holds only where you have looked at it here.`
})

export const templates = {
  work,
  "quality-retry": qualityRetry,
  "auto-fix": autoFix,
  "clean-tree": cleanTree,
  "commit-rejected": commitRejected,
  "claims-rejected": claimsRejected,
  "checkpoint-missed": checkpointMissed,
  "report-correction": reportCorrection,
  "idle-again": idleAgain,
  background,
  context,
  continuation,
  "phase-moved": phaseMoved
} as const

type TemplateName = keyof typeof templates

/** The template, or the run's own text in its place, with its variables filled in. */
export const render = <Name extends TemplateName>(
  run: Run,
  name: Name,
  values: ValuesOf<(typeof templates)[Name]>
): string => {
  const template: Template = templates[name]
  return renderTemplate(template, values, run.request.options.prompts[name])
}

/** The parts that are not empty, with a blank line between them. */
export const paragraphs = (...parts: ReadonlyArray<string>): string =>
  parts.filter((part) => part.trim() !== "").join("\n\n")

/** What the commands printed that verify a checkpoint. */
export const checksText = (texts: ReadonlyArray<string>): string =>
  texts.length === 0
    ? ""
    : `The commands that verify the checkpoint have printed these lines, which begin with \`>\`:\n${quote(texts.join("\n\n"))}`

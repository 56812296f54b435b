/** A plan with checkpoints, and the words of authors who stop at them. */
import type { ScriptInput } from "@reprise/scripted-model"
import { on, once } from "./story.ts"
import type { WorldOptions } from "./World.ts"

type RuleInput = ScriptInput["rules"][number]

export const planId = "02-01"

export const planWith = (...tasks: ReadonlyArray<string>): string =>
  `---\nid: ${planId}\n---\n\n# Sign in\n\n## Phase 2: Auth\n\n${tasks.map((task, n) => `- [ ] ${planId}-T${n + 1} ${task}\n`).join("")}`

/** Where the phase's record and summary lie. */
export const folder = ".planning/phases/02-auth"

/** One task, in one commit of its own; its hash is called like the task from then on. */
export const doTask = (name: string, message = `feat: ${name}`) => ({
  bash: `echo '${message}' >> ${name}.txt && git add -A && git commit -q -m '${message}' && git rev-parse HEAD`,
  capture: { [name.replaceAll("-", "_")]: "([0-9a-f]{40})" }
})

export const doneTask = (task: number, name: string) => ({
  id: `${planId}-T${task}`,
  commit: `{{${name.replaceAll("-", "_")}}}`,
  files: [`${name}.txt`]
})

/** The next author whose prompt says this works so. */
export const worksWhen = (says: string, ...steps: ReadonlyArray<Record<string, unknown>>): RuleInput =>
  once({ role: "author", kind: "work", lastUser: says }, [...steps, { text: "I stop here." }] as RuleInput["reply"])

export const reports = (report: Record<string, unknown>): RuleInput =>
  once({ role: "author", kind: "report" }, { report: report as never })

/** A report of an author who stops at a checkpoint. */
export const stopsAt = (
  task: number,
  type: string,
  done: ReadonlyArray<unknown>,
  more: Record<string, unknown> = {}
): RuleInput =>
  reports({
    result: "checkpoint",
    completedTasks: done,
    checkpoint: { task: `${planId}-T${task}`, type, description: `About task ${task}`, ...more }
  })

export const completes = (commit: string, done: ReadonlyArray<unknown>): RuleInput =>
  reports({ result: "complete", commit: `{{${commit}}}`, completedTasks: done })

export const reviewed: ReadonlyArray<RuleInput> = [
  on({ role: "reviewer", kind: "report" }, { report: { readiness: "ready", items: [], summary: "fine" } }),
  on({ role: "reviewer" }, { text: "I have read it." })
]

/** Two authors: the first does two tasks and stops for a look at the second, the other finishes. */
export const pageToVerify: WorldOptions = {
  plan: planWith("Create the module", "Build the page (checkpoint: human-verify)", "Finish"),
  script: {
    rules: [
      { ...worksWhen("", doTask("module"), doTask("page")), match: { role: "author", kind: "work" } },
      stopsAt(2, "human-verify", [doneTask(1, "module"), doneTask(2, "page")]),
      worksWhen("Skip Task 2 and continue from Task 3.", doTask("finish")),
      completes("finish", [doneTask(3, "finish")]),
      ...reviewed
    ]
  }
}

/** The usual rules of a scripted model, so that a test only says what is special about its story. */
import type { ScriptInput } from "@reprise/scripted-model"

type RuleInput = ScriptInput["rules"][number]
type MatchInput = NonNullable<RuleInput["match"]>

/** A reply in which the author adds a line to a file and commits it. */
export const commits = (file: string, content: string): RuleInput["reply"] => [
  {
    bash: `printf '%s\\n' '${content}' >> ${file} && git add -A && git commit -q -m 'Write ${file}' && git rev-parse HEAD`
  },
  { text: `${file} is written and committed.` }
]

export const complete: RuleInput["reply"] = { report: { result: "complete", commit: "{{lastCommit}}", notes: "done" } }
export const needsHuman = (reason: string): RuleInput["reply"] => ({ report: { result: "needs_human", reason } })
export const ready: RuleInput["reply"] = { report: { readiness: "ready", items: [], summary: "fine" } }
export const humanRequired: RuleInput["reply"] = {
  report: {
    readiness: "not_ready",
    items: [{ id: "R1", title: "Which colour?", action: "human_required", reason: "it matters", priority: "P1" }]
  }
}
export const correct = (title: string): RuleInput["reply"] => ({
  report: {
    readiness: "ready_with_corrections",
    items: [{ id: "R1", title, action: "auto_fix", reason: "it matters", priority: "P1" }]
  }
})

export const on = (match: MatchInput, reply: RuleInput["reply"], more: Partial<RuleInput> = {}): RuleInput => ({
  ...more,
  match,
  reply
})
export const once = (match: MatchInput, reply: RuleInput["reply"], more: Partial<RuleInput> = {}): RuleInput =>
  on(match, reply, { ...more, times: 1 })

/** The rules for when nothing special happens: the author writes a file for each phase, the reviewer finds it ready. */
export const usual: ReadonlyArray<RuleInput> = [
  on({ role: "author", kind: "report" }, complete),
  on({ role: "reviewer", kind: "report" }, ready),
  on({ role: "reviewer" }, { text: "I have read it." }),
  on({ role: "author" }, commits("phase-{{phase}}.txt", "phase {{phase}} turn {{turn}}"))
]

export const script = (...rules: ReadonlyArray<RuleInput>): ScriptInput => ({ rules: [...rules, ...usual] })

export const plan = (...titles: ReadonlyArray<string>): string =>
  `# A plan\n\n${titles.map((title, n) => `## Phase ${n + 1}: ${title}\n\n- [ ] Write it\n`).join("\n")}`

/** The reviewer's first turn stops before its only tool call, until a test releases `in-review`. */
export const heldInReview: ScriptInput = script(
  once({ role: "reviewer", kind: "work" }, [
    { hold: "in-review", bash: "git log --oneline" },
    { text: "I have read it." }
  ])
)

/** The author's first turn stops before its only tool call, until a test releases `mid-turn`. */
export const heldInMidTurn: ScriptInput = script(
  once({ role: "author", kind: "work" }, [
    {
      hold: "mid-turn",
      bash: "echo work > work.txt && git add -A && git commit -q -m 'Write it' && git rev-parse HEAD"
    },
    { text: "Done." }
  ])
)

const asksColour = once({ role: "author", kind: "report" }, needsHuman("Which colour?"))

/** What a world is made of whose run of PLAN.md asks one question. */
export const oneQuestion = { openCode: "shared", plan: plan("One"), script: script(asksColour) } as const

/** The same, with a run of OTHER.md that asks another. */
export const twoQuestions = {
  ...oneQuestion,
  files: { "OTHER.md": plan("Other") },
  script: script(once({ role: "author", kind: "report", firstUser: "OTHER.md" }, needsHuman("Which size?")), asksColour)
} as const

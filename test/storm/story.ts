/**
 * What happens in a storm besides the kills: in each run a reviewer finds something, a quality gate fails, and an author
 * asks. Every rule goes by what was said before in its session, so that it holds however often a turn is interrupted.
 */
import type { ScriptInput } from "@reprise/scripted-model"
import { type commits, needsHuman, on, plan, ready } from "../harness/modelScript.ts"

export type Agent = "opencode" | "claude"

export const phases = 3

/** The plans of a world: one for each run. */
export const planName = (run: number) => `PLAN-${run}.md`
export const planFiles = (runs: number): Record<string, string> =>
  Object.fromEntries(
    Array.from({ length: runs }, (_, n) => [
      planName(n + 1),
      plan("With a finding", "With a failing gate", "With a question")
    ])
  )

/** The commits of a run, each of which must exist once. */
export const commitsOf = (planPath: string): ReadonlyArray<string> => [
  `${planPath} phase 1: first`,
  `${planPath} phase 1: corrected`,
  `${planPath} phase 2: draft`,
  `${planPath} phase 2: repaired`,
  `${planPath} phase 3: first`
]

/** The human's words, which name the run whose question they answer. */
export const guidanceFor = (runId: string) => `Guidance for ${runId}.`

export const config = (agent: Agent) =>
  `runtime = "${agent}"\npermissions = "all"\n[gates]\nquality = ["! grep -rqs draft work"]\n`

/**
 * The author writes a file and commits it, unless that was done before: a call that was cut off comes again. A lock that
 * a killed git left behind is removed, as an agent would do. Done twice, since the first may be killed half-way.
 */
const writes = (phase: number, word: string): ReturnType<typeof commits> => {
  const file = `work/{{plan}}-${phase}`
  const subject = `{{plan}} phase ${phase}: ${word}`
  const bash = [
    "rm -f .git/index.lock",
    `git log --format=%s | grep -qxF '${subject}' || { mkdir -p work && echo ${word} > ${file} && git add -A && git commit -q -m '${subject}'; }`,
    "git rev-parse HEAD"
  ].join("\n")
  return [
    { bash, delayMs: 100 },
    { bash, delayMs: 100 },
    { bash, delayMs: 100 },
    { text: `${subject} is committed.`, delayMs: 100 }
  ]
}

const captureUser = { plan: "(PLAN-\\d+\\.md)" }
const asked = "Guidance for "
const finding = "raised the following items"
const gateFailed = "these quality gates fail"
const authorOf = (phase: number) => ({ role: "author", kind: ["work", "continue"], phase }) as const
const reportOf = (phase: number) => ({ role: "author", kind: "report", phase }) as const
const isFollowUp = { regex: "^A new commit \\(", flags: "m" }

const complete = { report: { result: "complete", commit: "{{lastCommit}}", notes: "done" } }
const correction = {
  report: {
    readiness: "ready_with_corrections",
    items: [{ id: "R1", title: "Correct {{plan}}", action: "auto_fix", reason: "it matters", priority: "P1" }]
  }
}

export const script: ScriptInput = {
  rules: [
    on({ ...reportOf(3), anyMessage: { contains: asked, not: true } }, needsHuman("Which way?")),
    on({ role: "author", kind: "report" }, complete),
    on({ role: "reviewer", kind: "report", phase: 1, anyMessage: { ...isFollowUp, not: true } }, correction),
    on({ role: "reviewer", kind: "report" }, ready),
    on(
      { role: "reviewer" },
      [
        { bash: "git log --oneline -3", delayMs: 100 },
        { text: "I have read it.", delayMs: 100 }
      ],
      { captureUser }
    ),
    on({ ...authorOf(1), anyMessage: finding }, writes(1, "corrected"), { captureUser }),
    on(authorOf(1), writes(1, "first"), { captureUser }),
    on({ ...authorOf(2), anyMessage: gateFailed }, writes(2, "repaired"), { captureUser }),
    on(authorOf(2), writes(2, "draft"), { captureUser }),
    on(authorOf(3), writes(3, "first"), { captureUser })
  ]
}

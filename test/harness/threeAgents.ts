/** A plan that three agents do together: an author over the protocol writes, Claude reviews, and OpenCode fixes. */
import type { ScriptInput } from "@reprise/scripted-model"
import { completes, doneTask, doTask, planWith, worksWhen } from "./checkpointPlan.ts"
import { commits, complete, correct, on, once, ready } from "./modelScript.ts"

const script: ScriptInput = {
  rules: [
    worksWhen("Create the module", doTask("module")),
    completes("module", [doneTask(1, "module")]),
    once({ role: "author", lastUser: "test -f gate.txt" }, commits("gate.txt", "passes")),
    once({ role: "author", kind: "report" }, complete),
    once({ role: "reviewer", kind: "report" }, correct("Say more")),
    once({ role: "author", lastUser: "Say more" }, commits("more.txt", "more")),
    once({ role: "author", kind: "report" }, complete),
    on({ role: "reviewer", kind: "report" }, ready),
    on({ role: "reviewer" }, { text: "I have read it." })
  ]
}

/** Of a world. `author`: the name of its runtime. The quality gate fails first, and the reviewer has one finding. */
export const threeAgents = (author: string) => ({
  plan: planWith("Create the module"),
  config: [
    'permissions = "all"',
    `[author]\nruntime = "${author}"`,
    '[reviewer]\nruntime = "claude"',
    '[fixer]\nruntime = "opencode"\nmodel = "scripted/second"\nvariant = "high"',
    '[gates]\nquality = ["test -f gate.txt"]\n'
  ].join("\n"),
  script
})

/** What `roleStory` tells of its run. `author`: the runtime as events name it. */
export const storyOfThree = (author: string): ReadonlyArray<string> => [
  "PREPARE",
  `EXECUTE author ${author}`,
  `  session of author on ${author}`,
  "  turn completed",
  "  CommitVerified",
  "QUALITY_CHECK",
  "  QualityFailed",
  "  ContinuationVerified",
  "QUALITY_RETRY fixer opencode",
  "  session of author on opencode",
  "  turn completed",
  "  CommitVerified",
  "QUALITY_CHECK",
  "  QualityPassed",
  "REVIEW reviewer claude",
  "  session of reviewer on claude",
  "  turn completed",
  "  verdict ready_with_corrections",
  "AUTO_FIX fixer opencode",
  "  same session",
  "  turn completed",
  "  CommitVerified",
  "QUALITY_CHECK",
  "  QualityPassed",
  "REVIEW reviewer claude",
  "  same session",
  "  turn completed",
  "  verdict ready",
  "PHASE_GATE",
  "PHASE_COMPLETE",
  "  PhaseCompleted",
  "  RunCompleted"
]

/** A plan that three vendors' agents do together: Codex over the protocol writes, Claude reviews, OpenCode mends. */
import { delimiter, dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { acpAgentSettings } from "@reprise/scripted-model"
import { Effect } from "effect"
import { completes, doneTask, doTask, planWith, worksWhen } from "../harness/checkpointPlan.ts"
import { commits, complete, correct, on, once, ready } from "../harness/modelScript.ts"
import { roleStory } from "../harness/roleStory.ts"
import { makeWorld } from "../harness/World.ts"

const acp = "acp:codex-acp"

/** Codex as users have it: first on the PATH, with the Node of the tests. */
const path = [join(import.meta.dirname, "node_modules/.bin"), dirname(process.execPath), process.env["PATH"]].join(
  delimiter
)

describe("agents by role", () => {
  it.live("a plan whose author is codex, reviewer claude and fixer opencode runs to its end, event by event", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({
        plan: planWith("Create the module"),
        config: [
          'permissions = "all"',
          '[author]\nruntime = "codex"',
          '[reviewer]\nruntime = "claude"',
          '[fixer]\nruntime = "opencode"\nmodel = "scripted/second"\nvariant = "high"',
          '[gates]\nquality = ["test -f gate.txt"]\n'
        ].join("\n"),
        environment: (folder, model) => ({ ...acpAgentSettings("codex", join(folder, "home"), model), PATH: path }),
        script: {
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
      })
      const done = yield* world.reprise("run", "PLAN.md")
      assert.strictEqual(done.code, 0, done.stderr)
      const { story } = yield* roleStory(world)
      assert.deepStrictEqual(story, [
        "PREPARE",
        `EXECUTE author ${acp}`,
        `  session of author on ${acp}`,
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
      ])
      const codex = (yield* world.model.calls).filter(({ protocol }) => protocol === "responses")
      assert.isTrue(codex.some(({ role }) => role === "author"))
      assert.deepStrictEqual(yield* world.model.unmatched, [])
    })
  )
})

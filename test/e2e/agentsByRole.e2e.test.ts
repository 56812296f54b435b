// @module-tag long
/** Agents by role and rule: author, reviewer and fixer on three runtimes, and a reviewer that changes with the reviews. */
import { readFileSync } from "node:fs"
import { delimiter, dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { locateOpenCode } from "@reprise/agent"
import { lacksClaude } from "@reprise/testing"
import { Effect } from "effect"
import { folder, planId } from "../harness/checkpointPlan.ts"
import { correct, once, plan, script } from "../harness/modelScript.ts"
import { roleStory } from "../harness/roleStory.ts"
import { storyOfThree, threeAgents } from "../harness/threeAgents.ts"
import { makeWorld } from "../harness/World.ts"

/** A folder first on the PATH in which `opencode` is found, as users have it. */
const withOpenCode = Effect.map(Effect.orDie(locateOpenCode()), (program) => ({
  PATH: [dirname(program), process.env["PATH"]].join(delimiter)
}))

const acp = "acp:opencode acp"

describe.skipIf(lacksClaude)("agents by role", () => {
  it.live(
    "a plan whose author is opencode-acp, reviewer claude and fixer opencode runs to its end, event by event",
    () =>
      Effect.gen(function* () {
        const path = yield* withOpenCode
        const world = yield* makeWorld({
          ...threeAgents("opencode-acp"),
          environment: () => path
        })
        const dry = yield* world.reprise("run", "PLAN.md", "--dry-run")
        assert.include(dry.stdout, `runtime: ${acp}; reviewer: claude; fixer: opencode, scripted/second, variant high`)
        const done = yield* world.reprise("run", "PLAN.md")
        assert.strictEqual(done.code, 0, done.stderr)
        const { run, story } = yield* roleStory(world)
        assert.deepStrictEqual(story, storyOfThree(acp))
        const calls = (yield* world.model.calls).filter(({ kind }) => kind === "work" || kind === "follow-up")
        const fixes = calls.filter(({ role, effort }) => role === "author" && effort === "high")
        assert.deepStrictEqual(new Set(fixes.map(({ model }) => model)), new Set(["second"]))
        assert.match(
          fixes[0]?.lastUser ?? "",
          new RegExp(`\\| ${planId}-T1 \\| Create the module \\| [0-9a-f]{12} \\| module.txt \\| complete \\|`)
        )
        assert.deepStrictEqual(yield* world.model.unmatched, [])

        const agents = [
          `the author is ${acp}`,
          "the fixer is opencode, model scripted/second, variant high",
          "the reviewer is claude"
        ]
        const status = yield* world.reprise("status", run?.runId ?? "")
        for (const agent of agents) assert.include(status.stdout, `phase 2: ${agent}`)
        for (const agent of agents.slice(1)) assert.include(done.stderr + done.stdout, agent)
        const summary = readFileSync(join(world.root, folder, "SUMMARY.md"), "utf8")
        assert.include(summary, `## Agents\n\n${agents.map((agent) => `- Phase 2: ${agent}\n`).join("")}`)
      })
  )

  it.live(
    "from the second review on another model reviews, and from the third another vendor, in every phase again",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld({
          openCode: "shared",
          plan: plan("One", "Two"),
          config: [
            'permissions = "all"',
            'model = "scripted/scripted"',
            '[[reviewer.rules]]\nfromReview = 2\nmodel = "scripted/second"',
            '[[reviewer.rules]]\nfromReview = 3\nruntime = "claude"\nmodel = "opus"\n'
          ].join("\n"),
          script: script(
            once({ role: "reviewer", kind: "report" }, correct("Say more")),
            once(
              { role: "reviewer", kind: "report" },
              {
                report: {
                  readiness: "ready_with_corrections",
                  items: [{ id: "R2", title: "And more", action: "auto_fix" }]
                }
              }
            )
          )
        })
        const dry = yield* world.reprise("run", "PLAN.md", "--dry-run")
        assert.include(dry.stdout, "Rule 1 of the reviewer: from review 2 on, opencode, scripted/second")
        assert.include(dry.stdout, "Rule 2 of the reviewer: from review 3 on, claude, opus")
        const done = yield* world.reprise("run", "PLAN.md")
        assert.strictEqual(done.code, 0, done.stderr)
        const { story } = yield* roleStory(world)
        assert.deepStrictEqual(
          story.filter((line) => line.startsWith("REVIEW")),
          [
            "REVIEW reviewer opencode",
            "REVIEW reviewer opencode (from review 2 on)",
            "REVIEW reviewer claude (from review 3 on)",
            "REVIEW reviewer opencode"
          ]
        )
        const reviews = (yield* world.model.calls).filter(
          ({ kind, role }) => role === "reviewer" && (kind === "work" || kind === "follow-up")
        )
        assert.deepStrictEqual(
          reviews.map(({ kind, model, phase, protocol }) =>
            [phase, kind, protocol, model.replace(/.*opus.*/, "opus")].join(" ")
          ),
          ["1 work openai scripted", "1 follow-up openai second", "1 work anthropic opus", "2 work openai scripted"]
        )
        assert.strictEqual(reviews[0]?.session, reviews[1]?.session)
        // The other vendor's reviewer knows what is still open.
        assert.include(reviews[2]?.lastUser, "And more")
        assert.deepStrictEqual(yield* world.model.unmatched, [])
      })
  )
})

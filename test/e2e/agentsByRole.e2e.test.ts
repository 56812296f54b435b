// @module-tag long
/** Agents by role and rule: author, reviewer and fixer on three runtimes, and a reviewer that changes with the reviews. */
import { readFileSync } from "node:fs"
import { delimiter, dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { locateOpenCode } from "@reprise/agent"
import { lacksClaude } from "@reprise/testing"
import { Effect } from "effect"
import { folder, planId } from "../harness/checkpointPlan.ts"
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
})

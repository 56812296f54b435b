// @module-tag long
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { correct, once, plan, script } from "../harness/modelScript.ts"
import { makeWorld, type World } from "../harness/World.ts"

const prompt = (world: World, name: string, text: string) => {
  mkdirSync(join(world.root, ".reprise", "prompts"), { recursive: true })
  writeFileSync(join(world.root, ".reprise", "prompts", `${name}.md`), text)
}

describe("overridden prompts", () => {
  it.live("are checked before anything starts, and are then sent to author and reviewer", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({
        openCode: "shared",
        plan: plan("One"),
        script: script(once({ role: "reviewer", kind: "report" }, correct("Say {more} `now`")))
      })
      prompt(world, "work", "Phase {fase} please.\n")
      prompt(world, "workk", "x")
      const refused = yield* world.reprise("run", "PLAN.md")
      assert.strictEqual(refused.code, 3)
      assert.match(
        refused.stderr,
        /\.reprise\/prompts\/work\.md:1:7 unknown variable '\{fase\}'; did you mean 'phase'\?/
      )
      assert.match(refused.stderr, /workk\.md:1:1 there is no prompt of this name; did you mean 'work\.md'/)
      assert.deepStrictEqual(yield* world.runs, [])

      rmSync(join(world.root, ".reprise", "prompts", "workk.md"))
      prompt(world, "work", "🚀 Do phase {phase}, { as you } like, \\{x}.\n{tasks}\n")
      prompt(world, "auto-fix", "Mine: {items}")
      prompt(world, "review", "Judge {commit}, write to {review_path}.")
      prompt(world, "review-follow-up", "A new commit ({commit}) is there. Again to {review_path}.")
      prompt(world, "report-with-work", "End your last message with {what} as JSON, in my words:\n{shape}\n{rules}")
      const run = yield* world.reprise("run", "PLAN.md")
      assert.strictEqual(run.code, 0, run.stderr)

      const calls = yield* world.model.calls
      const said = (role: string) => calls.filter((call) => call.role === role).map(({ lastUser }) => lastUser)
      const [author, reviewer] = [said("author"), said("reviewer")]
      const work =
        /^You are the author of phase 1 of the plan PLAN\.md: One\.\n\nRead what the project says [^\n]+\n\n🚀 Do phase 1, \{ as you \} like, \{x\}\.\n- \S+: Write it\n\n## Your report\n\nEnd your/
      assert.isTrue(author.some((text) => work.test(text)))
      assert.isTrue(
        author.some((text) =>
          text.includes("\n\nMine: > - R1 [P1] Say {more} `now`\n>   it matters\n\n## Your report\n\nEnd")
        )
      )
      assert.isTrue(
        reviewer.some((text) =>
          /^You are the reviewer of phase 1 of the plan PLAN\.md\.\n\nJudge [0-9a-f]{40}/.test(text)
        )
      )
      assert.isTrue(reviewer.some((text) => /^A new commit \([0-9a-f]+\) is there\./.test(text)))
      const request = (what: string) => `\n\nEnd your last message with ${what} as JSON, in my words:\n\`\`\`json`
      assert.isTrue(author.every((text) => text.includes(request("what you did"))))
      assert.isTrue(reviewer.every((text) => text.includes(request("your verdict"))))
    })
  )
})

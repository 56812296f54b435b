/** A plan that three vendors' agents do together: Codex over the protocol writes, Claude reviews, OpenCode fixes. */
import { delimiter, dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { acpAgentSettings } from "@reprise/scripted-model"
import { lacksClaude } from "@reprise/testing"
import { Effect } from "effect"
import { roleStory } from "../harness/roleStory.ts"
import { storyOfThree, threeAgents } from "../harness/threeAgents.ts"
import { makeWorld } from "../harness/World.ts"

const acp = "acp:codex-acp"

/** Codex as users have it: first on the PATH, with the Node of the tests. */
const path = [join(import.meta.dirname, "node_modules/.bin"), dirname(process.execPath), process.env["PATH"]].join(
  delimiter
)

describe.skipIf(lacksClaude)("agents by role", () => {
  it.live("a plan whose author is codex, reviewer claude and fixer opencode runs to its end, event by event", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({
        ...threeAgents("codex"),
        environment: (folder, model) => ({ ...acpAgentSettings("codex", join(folder, "home"), model), PATH: path })
      })
      const done = yield* world.reprise("run", "PLAN.md")
      assert.strictEqual(done.code, 0, done.stderr)
      const { story } = yield* roleStory(world)
      assert.deepStrictEqual(story, storyOfThree(acp))
      const codex = (yield* world.model.calls).filter(({ protocol }) => protocol === "responses")
      assert.isTrue(codex.some(({ role }) => role === "author"))
      assert.deepStrictEqual(yield* world.model.unmatched, [])
    })
  )
})

// @module-tag long
import { chmodSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { once, plan, script } from "../harness/modelScript.ts"
import { makeWorld } from "../harness/World.ts"

/** An author whose commit fails, but who reports it anyway. */
const claims = { report: { result: "complete", commit: "c0ffee".repeat(6).padEnd(40, "0") } } as const

describe("a repository whose pre-commit hook refuses", () => {
  it.live("makes the run ask a clear question and continue once the hook is fixed", () =>
    Effect.gen(function* () {
      const report = { role: "author", kind: "report" } as const
      const world = yield* makeWorld({
        openCode: "shared",
        plan: plan("One"),
        script: script(
          once(report, claims),
          once(report, claims),
          once({ role: "reviewer", kind: "work" }, [
            { bash: "mkdir -p docs/reviews && echo fine > docs/reviews/PLAN-phase-1-review.md" },
            { text: "I have read it." }
          ])
        )
      })
      const hook = join(world.root, ".git", "hooks", "pre-commit")
      writeFileSync(hook, "#!/bin/sh\necho 'no commits on Fridays' >&2\nexit 1\n")
      chmodSync(hook, 0o755)
      const parked = yield* world.reprise("run", "PLAN.md")
      assert.strictEqual(parked.code, 4, parked.stderr)
      assert.match(parked.stderr, /Commit c0ffee.* was rejected again \(missing\): There is no commit/)
      const [question] = yield* world.questions
      assert.strictEqual(question?.origin, "commit")

      rmSync(hook)
      yield* world.reprise("gate", "answer", question?.escalationId ?? "", "c", "--guidance", "The hook is fixed")
      writeFileSync(hook, "#!/bin/sh\ncase $(git diff --cached --name-only) in docs/*) exit 1;; esac\n")
      chmodSync(hook, 0o755)
      const done = yield* world.reprise("run", "PLAN.md")
      assert.strictEqual(done.code, 0, done.stderr)
      assert.strictEqual(world.git("log", "-1", "--format=%s"), "docs(review): finalize phase 1")
    })
  )
})

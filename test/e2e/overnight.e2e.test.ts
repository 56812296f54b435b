import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { commits, complete, needsHuman, on, once, plan, script } from "../harness/story.ts"
import { steps, works } from "../harness/told.ts"
import { makeWorld } from "../harness/World.ts"

const fabricated = "deadbeef".repeat(5)

const item = (id: string, action: "auto_fix" | "human_required") => ({
  id,
  title: `Title of ${id}`,
  action,
  reason: "it matters",
  priority: "P1" as const
})

const author = (phase: number) => ({ role: "author", kind: "work", phase }) as const
const report = (phase: number) => ({ role: "author", kind: "report", phase }) as const
const verdict = (phase: number) => ({ role: "reviewer", kind: "report", phase }) as const

const sixthPhase = "\\n## Phase 6: Six\\n\\n- [ ] Write it\\n"

const story = script(
  // Phase 1: the quality gate fails, and is fixed at the second try.
  once(author(1), commits("broken.txt", "work")),
  once(author(1), commits("attempt.txt", "of no use")),
  once(author(1), { bash: "git rm -q broken.txt && git commit -q -m 'Mend it' && git rev-parse HEAD" }),
  // Phase 2: a commit that does not exist.
  once(report(2), { report: { result: "complete", commit: fabricated } }),
  once({ ...author(2), lastUser: "was rejected" }, { text: "I shall give the hash that git prints." }),
  // Phase 3: two review cycles. Its author also finds that the plan lacks a phase.
  once(author(3), commits("phase-3.txt", "work")),
  once(verdict(3), { report: { readiness: "not_ready", items: [item("R1", "auto_fix"), item("R2", "auto_fix")] } }),
  // Phase 4: the verdict needs a human.
  once(verdict(4), { report: { readiness: "not_ready", items: [item("H1", "human_required"), item("R3", "auto_fix")] } }),
  // Phase 5: overridden.
  once(report(5), needsHuman("The tests need a key that I do not have.")),
  on({ role: "author", kind: "report" }, complete)
)

describe("a plan that is left alone overnight", () => {
  it.live("goes through gates, rejections, reviews, a human's decisions and a phase that is appended in mid-run", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({
        plan: plan("One", "Two", "Three", "Four", "Five"),
        config: 'permissions = "all"\n[gates]\nquality = ["test ! -e broken.txt"]\n',
        script: story
      })
      const evening = yield* world.reprise("run", "PLAN.md")
      assert.strictEqual(evening.code, 4, evening.stderr)
      const [first] = yield* world.questions
      console.log(evening.stderr, first)
      const [run] = yield* world.runs
      const events = yield* world.eventsOf(run?.runId ?? "")
      console.log(steps(events), works(events))
      void sixthPhase
    })
  )
})

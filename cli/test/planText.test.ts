import { assert, describe, it } from "@effect/vitest"
import { parsePlan } from "@reprise/plan"
import { defaultRunOptions, RunId, type RunOptions } from "@reprise/protocol"
import { Result } from "effect"
import { describePlan, planText, type StartRun } from "../src/views/planText.ts"

const source = `---
id: "02"
---

# A greeter

- [ ] nobody's

## Phase 1: Greet - COMPLETE

- [x] P1.1 Write it

## Phase 2: Sign in

- [ ] Choose a provider (checkpoint: decision)
- [ ] Wire it

**Completion gate:** somebody signed in.
`

const described = (options: Partial<RunOptions> = {}, reporting: "with-work" | "asked" = "with-work") => {
  const start: StartRun = {
    _tag: "StartRun",
    runId: RunId.make("dry-run"),
    planPath: "docs/PLAN.md",
    plan: source,
    workspace: "/repository",
    options: { ...defaultRunOptions, ...options }
  }
  return describePlan(Result.getOrThrow(parsePlan(source)), start, reporting)
}

describe("the description of a plan", () => {
  it("has its phases, tasks with ids, checkpoints and completion gates", () => {
    const { id, phases, planPath, title } = described()
    assert.deepStrictEqual([planPath, id, title], ["docs/PLAN.md", "02", "A greeter"])
    assert.deepStrictEqual(phases, [
      { id: "1", title: "Greet", done: true, tasks: [{ id: "P1.1", text: "Write it", checked: true }] },
      {
        id: "2",
        title: "Sign in",
        done: false,
        completionGate: "somebody signed in.",
        tasks: [
          { id: "2-T1", text: "Choose a provider", checked: false, checkpoint: "decision" },
          { id: "2-T2", text: "Wire it", checked: false }
        ]
      }
    ])
  })

  it("shows the gates that would run", () => {
    const gates = {
      quality: ["make"],
      qualityTimeoutMs: 1,
      verify: ["make look"],
      environment: [],
      phase: "human" as const
    }
    assert.deepStrictEqual(described({ gates }).gates, {
      quality: ["make"],
      verify: ["make look"],
      phase: "human"
    })
    assert.deepStrictEqual(described({ gates, skipQuality: true }).gates, {
      quality: [],
      verify: ["make look"],
      phase: "human"
    })
  })

  it("shows everything at a glance as text", () => {
    const gates = {
      quality: ["npm run lint", "npm test"],
      qualityTimeoutMs: 1,
      verify: ["make look"],
      environment: [],
      phase: "auto" as const
    }
    const [plan = ""] = planText(described({ gates, model: "a/b" })).split("\n\nThe run starts")
    assert.deepStrictEqual(plan.split("\n"), [
      "docs/PLAN.md: A greeter",
      "Phase 1: Greet (marked complete)",
      "  [x] P1.1 Write it",
      "Phase 2: Sign in",
      "  [ ] 2-T1 Choose a provider (checkpoint: decision)",
      "  [ ] 2-T2 Wire it",
      "  completion gate: somebody signed in.",
      "Quality gates after each phase: npm run lint, npm test",
      "Under --auto, these commands verify human-verify checkpoints: make look",
      "Phase gate: auto; permissions: ask; runtime: opencode, a/b",
      "note: docs/PLAN.md:7:1 this item is in no phase, so it is not a task; move it into a phase if it should be done."
    ])
  })

  it("says how to name quality gates when there are none", () => {
    assert.include(
      planText(described()),
      "No quality gates: list the commands that must pass as quality under [gates] in reprise.toml"
    )
  })

  it("has the prompts of the first phase's author and reviewer, as the services would send them", () => {
    const { prompts } = described()
    assert.strictEqual(prompts?.phase, "2")
    assert.include(prompts?.author.work, "You are the author of phase 2 of the plan docs/PLAN.md: Sign in.")
    assert.include(prompts?.author.work, "2-T1: Choose a provider (checkpoint: decision)")
    assert.include(prompts?.author.report, '"needs_human"')
    assert.include(prompts?.reviewer.work, " <HEAD>..<the author's commit>`")
    assert.include(prompts?.reviewer.work, "docs/reviews/")
    assert.include(prompts?.reviewer.report, '"readiness"')
    const text = planText(described())
    assert.include(text, "The run starts with phase 2. Its author is asked:\n  | You are the author of phase 2")
    assert.include(text, "a reviewer is asked:\n  | You are the reviewer of phase 2")
  })

  it("shows how the agents report: at the end of their prompts, or in prompts that follow", () => {
    const withWork = planText(described())
    assert.include(
      withWork,
      "\n  | ## Your report\n  | \n  | When you are done, or cannot go on without a human, report what you did"
    )
    assert.notInclude(withWork, "Now report")
    const asked = planText(described({}, "asked"))
    assert.include(asked, "in the next prompt.\nand then:\n  | Now report what you did.")
    assert.include(asked, "in the next prompt.\nand then:\n  | Now report your verdict.")
  })

  it("uses the run's own prompt templates", () => {
    const { prompts } = described({ prompts: { work: "Do {phase}!", review: "Judge {commit}!" } })
    assert.include(prompts?.author.work, "Do 2!")
    assert.include(prompts?.reviewer.work, "Judge <the author's commit>!")
  })

  it("says so when no phase is left to do", () => {
    const done = source.replace("## Phase 2: Sign in", "## Phase 2: Sign in - COMPLETE")
    const plan = Result.getOrThrow(parsePlan(done))
    const run: StartRun = {
      _tag: "StartRun",
      runId: RunId.make("dry-run"),
      planPath: "PLAN.md",
      plan: done,
      workspace: "/repository",
      options: defaultRunOptions
    }
    const description = describePlan(plan, run, "with-work")
    assert.isNull(description.prompts)
    assert.include(planText(description), "No phase is left to do.")
  })
})

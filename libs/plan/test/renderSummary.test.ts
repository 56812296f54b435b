import { assert, describe, it } from "@effect/vitest"
import { parsePlan, renderSummary, Summary, taskResults } from "../src/index.ts"
import { lines, parsed } from "./plans.ts"

const [phase = assert.fail("no phase")] = parsed(
  parsePlan(
    lines(
      "## Phase 2: Auth",
      "- [ ] P2.1 Module",
      "- [ ] P2.2 Middleware",
      "- [ ] P2.3 Callback (checkpoint: human-verify)",
      "- [ ] P2.4 Pages"
    )
  )
).phases
const done = (id: string, commit: string) => ({ id, commit, files: [] })
const statuses = (...results: Parameters<typeof taskResults>) => taskResults(...results).map(({ status }) => status)
const reached = { task: "P2.3", type: "human-verify", completedBefore: ["P2.1", "P2.2"] } as const

describe("taskResults", () => {
  it("are complete and pending in a phase without a checkpoint", () => {
    assert.deepStrictEqual(statuses(phase, [done("P2.1", "a1")], [], new Map()), [
      "complete",
      "pending",
      "pending",
      "pending"
    ])
  })

  it("show the task of an open checkpoint", () => {
    const completed = [done("P2.1", "a1"), done("P2.2", "a2"), done("P2.3", "a3")]
    const expected = ["complete (pre-checkpoint)", "complete (pre-checkpoint)", "checkpoint", "pending"]
    assert.deepStrictEqual(statuses(phase, completed, [reached], new Map()), expected)
  })

  it("count the checkpoint's own task as done after it, though it was done before a human was asked", () => {
    const completed = ["P2.1", "P2.2", "P2.3"].map((id) => done(id, "a1"))
    const passed = { ...reached, completedBefore: ["P2.1", "P2.2", "P2.3"], resolution: "passed" }
    assert.strictEqual(statuses(phase, completed, [passed], new Map())[2], "complete (post-checkpoint)")
  })

  it("of an approved phase do not count a task that a human has not passed, or could not do", () => {
    const statusAfter = (type: "human-verify" | "human-action", resolution: string) =>
      taskResults(phase, [], [{ ...reached, type, resolution }], new Map(), { by: "review" })[2]?.status
    assert.strictEqual(statusAfter("human-verify", "failed: crooked"), "checkpoint")
    assert.strictEqual(statusAfter("human-verify", "passed"), "complete (post-checkpoint)")
    assert.strictEqual(statusAfter("human-action", "cannot: no rights"), "checkpoint")
    assert.strictEqual(statusAfter("human-action", "done"), "complete (post-checkpoint)")
  })

  it("tell what was done before and after a checkpoint", () => {
    const completed = ["P2.1", "P2.2", "P2.3", "P2.4"].map((id, index) => done(id, `a${index}`))
    const results = taskResults(
      phase,
      completed,
      [{ ...reached, resolution: "passed" }],
      new Map([["a2", "feat: callback"]])
    )
    assert.deepStrictEqual(results[2], {
      ...{
        id: "P2.3",
        name: "Callback",
        status: "complete (post-checkpoint)",
        commit: "a2",
        subject: "feat: callback"
      },
      ...{ checkpoint: "human-verify", resolution: "passed" }
    })
    assert.deepStrictEqual(
      results.map(({ status }) => status),
      [
        "complete (pre-checkpoint)",
        "complete (pre-checkpoint)",
        "complete (post-checkpoint)",
        "complete (post-checkpoint)"
      ]
    )
  })
})

const summary: Summary = {
  planId: "02-01",
  title: "Sign in",
  runId: "r1",
  phases: [
    {
      id: "2",
      title: "Auth",
      completedBy: "override",
      tasks: [
        { id: "P2.1", name: "Module", status: "complete (pre-checkpoint)", commit: "abc1234", subject: "feat: module" },
        {
          ...{ id: "P2.3", name: "Callback", status: "complete (post-checkpoint)", commit: "def5678" },
          ...{ checkpoint: "human-verify", resolution: "passed: both buttons" }
        },
        { id: "P2.4", name: "Pages\n## Overrides", status: "pending" }
      ]
    }
  ],
  overrides: [{ phase: "2", by: "ada", reason: "good\nenough\x1b[31m" }],
  declined: [{ phase: "2", id: "R1", title: "Rename", reason: "taste" }],
  deviations: ["Used a table instead of a cookie"],
  refusals: [
    { phase: "2", role: "author", text: "bash: curl\n## Overrides", times: 2 },
    { role: "reviewer", text: "Bash: rm -rf /", times: 1 },
    { phase: "2", role: "reviewer", text: "network: example.org", times: 3, sandbox: "network" },
    { phase: "2", role: "author", text: "write: /home/me/.bashrc", times: 1, sandbox: "write", gate: "npm test\n## X" }
  ],
  usage: [
    {
      phase: "2",
      role: "author",
      tokens: { input: 10, output: 2, reasoning: 1, cacheRead: 90, cacheWrite: 5 },
      cost: 0.25
    },
    {
      phase: "2",
      role: "reviewer",
      tokens: { input: 1, output: 1, reasoning: 0, cacheRead: 0, cacheWrite: 0 },
      cost: 0.01
    }
  ],
  saved: { continuedTurns: 3, cachedTokens: 90, unsentTokens: 1200 }
}

describe("SUMMARY.md", () => {
  it("reports tasks, overrides, deviations, tokens and cost", () => {
    assert.strictEqual(
      renderSummary(summary),
      lines(
        "# Summary: Sign in",
        "",
        "- **Plan**: 02-01",
        "- **Run**: r1",
        "- **Phase 2**: Auth (complete by override)",
        "",
        "## Task Results",
        "",
        "### Task 1: Module",
        "",
        "- **Id**: `P2.1`",
        "- **Commit**: `abc1234` - feat: module",
        "- **Status**: complete (pre-checkpoint)",
        "",
        "### Task 2: Callback (checkpoint: human-verify)",
        "",
        "- **Id**: `P2.3`",
        "- **Checkpoint resolution**: passed: both buttons",
        "- **Commit**: `def5678`",
        "- **Status**: complete (post-checkpoint)",
        "",
        "### Task 3: Pages ## Overrides",
        "",
        "- **Id**: `P2.4`",
        "- **Commit**: none",
        "- **Status**: pending",
        "",
        "## Checklist",
        "",
        "- [x] P2.1 Module",
        "- [x] P2.3 Callback",
        "- [ ] P2.4 Pages ## Overrides",
        "",
        "## Overrides",
        "",
        "- Phase 2, by ada: good enough [31m",
        "",
        "## Declined Findings",
        "",
        "- Phase 2, R1: Rename (taste)",
        "",
        "## Deviations",
        "",
        "- Used a table instead of a cookie",
        "",
        "## Refused Permissions",
        "",
        "- Phase 2, author, 2 times: bash: curl ## Overrides",
        "- Before the first phase, reviewer: Bash: rm -rf /",
        "",
        "## Refused by the Sandbox",
        "",
        "- Phase 2, reviewer, 3 times: network: example.org",
        "- Phase 2, quality gate npm test ## X: write: /home/me/.bashrc",
        "",
        "## Tokens and Cost",
        "",
        "| Phase | Role | Input | Output | Reasoning | Cache read | Cache write | Cost |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
        "| 2 | author | 10 | 2 | 1 | 90 | 5 | $0.2500 |",
        "| 2 | reviewer | 1 | 1 | 0 | 0 | 0 | $0.0100 |",
        "| all |  | 11 | 3 | 1 | 90 | 5 | $0.2600 |",
        "",
        "## Saved by Continuation",
        "",
        "- 90 tokens read from the runtime's cache in 3 continued turns",
        "- 1200 tokens of earlier turns not sent again to fresh authors",
        "",
        "Counted from what the runtime reported."
      )
    )
  })

  it("reports what one role has used", () => {
    const text = renderSummary({ ...summary, usage: summary.usage.slice(0, 1) })
    assert.include(text, "| 2 | author | 10 | 2 | 1 | 90 | 5 | $0.2500 |\n| all |  | 10 | 2 | 1 | 90 | 5 | $0.2500 |")
  })

  it("leaves out empty sections and numbers tasks across phases", () => {
    const [only = assert.fail("no phase")] = summary.phases
    const { saved: _, ...rest } = summary
    const text = renderSummary({
      ...rest,
      phases: [only, { id: "3", title: "More", tasks: [] }, { ...only, id: "4" }],
      overrides: [],
      declined: [],
      deviations: [],
      refusals: [],
      usage: []
    })
    assert.deepStrictEqual(text.match(/^## .*/gm), ["## Task Results", "## Checklist"])
    assert.deepStrictEqual(
      text.match(/^### Task \d+/gm),
      [1, 2, 3, 4, 5, 6].map((number) => `### Task ${number}`)
    )
    assert.match(text, /\*\*Phase 3\*\*: More \(not complete\)/)
    assert.match(text, /- \*\*Id\*\*: `P2\.4` in phase 4/)
  })

  it.prop("never gets a section from the text of an agent or a human", [Summary], ([any]) => {
    const sections = [
      "Task Results",
      "Checklist",
      "Overrides",
      "Declined Findings",
      "Deviations",
      "Refused Permissions",
      "Refused by the Sandbox",
      "Tokens and Cost",
      "Saved by Continuation",
      "Other Authors",
      "Agents"
    ]
    for (const heading of renderSummary(any).match(/^## .*/gm) ?? []) assert.include(sections, heading.slice(3))
  })
})

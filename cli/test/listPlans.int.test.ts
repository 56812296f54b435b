/** The plans that the web console lists, in a repository whose files others have written. */
import { symlinkSync, utimesSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { maxPlanLength } from "@reprise/plan"
import { Effect } from "effect"
import { makeListPlans, planLimits } from "../src/flows/console/listPlans.ts"
import { scratchRepository } from "./support/scratchRepository.ts"

const repository = scratchRepository()

const plan = (title: string) => `# ${title}\n\n## Phase 1: First\n\n- [ ] P1.1 Write it\n`

/** Written so many seconds ago. */
const write = (path: string, text: string, ago: number) => {
  repository.write(path, text)
  const at = Date.now() / 1000 - ago
  utimesSync(join(repository.project.root, path), at, at)
}

/** As slow to parse as a plan may be: a second or two. */
const slow = `## Phase 1: First\n\n${`- a\n${"  - - b\n".repeat(200)}`.repeat(40)}`

const shown = (plans: Effect.Success<ReturnType<typeof makeListPlans>>) =>
  plans.map(({ path, phases, problem }) => `${path} ${problem ?? phases.length}`)

describe("the plans that the console lists", () => {
  it.live("are those among the markdown files, what was changed last first, and no links", () =>
    Effect.gen(function* () {
      write("a.md", plan("A"), 30)
      write("docs/b.markdown", plan("B"), 10)
      write("wrong.md", "# C\n\n## Phase one: x\n\n- [ ] a\n", 20)
      write("README.md", "# No plan\n\nIt has two phases.\n", 5)
      write("large.md", `${plan("D")}${"x".repeat(3 * maxPlanLength)}`, 5)
      symlinkSync("a.md", join(repository.project.root, "link.md"))
      const plans = yield* makeListPlans(repository.project)
      assert.deepStrictEqual(shown(plans).slice(0, 1), ["docs/b.markdown 1"])
      assert.match(shown(plans)[1] ?? "", /^wrong\.md Line 3: /)
      assert.deepStrictEqual(shown(plans).slice(2), ["a.md 1"])
    })
  )

  it.live("are read once for all who ask at the same time, and again only where a file has changed", () =>
    Effect.gen(function* () {
      write("a.md", plan("A"), 30)
      write("b.md", plan("B"), 20)
      const list = makeListPlans(repository.project)
      const [first, second] = yield* Effect.all([list, list], { concurrency: "unbounded" })
      assert.strictEqual(first, second)
      write("b.md", plan("B2"), 10)
      const third = yield* list
      assert.deepStrictEqual(
        third.map(({ title }) => title),
        ["B2", "A"]
      )
      assert.strictEqual(third[1], first[1])
      assert.notStrictEqual(third, first)
    })
  )

  it.live(
    "are listed as too slow where one takes long to parse, which holds up neither the others nor the next list",
    () =>
      Effect.gen(function* () {
        write("a.md", plan("A"), 30)
        write("slow.md", slow, 20)
        write("b.md", plan("B"), 10)
        const list = makeListPlans(repository.project, { ...planLimits, parsingMs: 400 })
        const tooSlow = "slow.md Reading it takes too long. Shorten it, or start it in a terminal."
        const first = yield* list
        assert.deepStrictEqual(shown(first), ["b.md 1", tooSlow, "a.md 1"])
        const second = yield* list
        for (const [n, one] of second.entries()) assert.strictEqual(one, first[n])
      })
  )

  it.live("are read for a limited time: the next list goes on", () =>
    Effect.gen(function* () {
      for (const n of [1, 2, 3]) write(`slow${n}.md`, slow, n)
      const list = makeListPlans(repository.project, { ...planLimits, readingMs: 0, parsingMs: 1 })
      const lengths = []
      for (let n = 0; n < 4; n++) lengths.push((yield* list).length)
      assert.deepStrictEqual(lengths, [1, 2, 3, 3])
    })
  )

  it.live("are so many, with so much text of each and of all", () =>
    Effect.gen(function* () {
      for (let n = 0; n < 6; n++) write(`p${n}.md`, plan("x".repeat(1_000)), n)
      const phases = Array.from({ length: 10 }, (_, n) => `## Phase ${n + 1}: ${"x".repeat(10_000)}\n\n- [ ] a\n`)
      write("long.md", phases.join("\n"), 10)
      const few = makeListPlans(repository.project, { ...planLimits, mostFiles: 3 })
      assert.deepStrictEqual(shown(yield* few), ["p0.md 1", "p1.md 1", "p2.md 1"])
      const short = makeListPlans(repository.project, { ...planLimits, mostCharacters: 2_500 })
      assert.deepStrictEqual(shown(yield* short), ["p0.md 1", "p1.md 1"])
      const all = yield* makeListPlans(repository.project)
      assert.match(shown(all).at(-1) ?? "", /^long\.md Its phases are too long/)
    })
  )
})

import { assert, describe, it } from "@effect/vitest"
import { GateOptions, RunLimits } from "@reprise/protocol"
import { FrontMatter, PlanGates, PlanLimits, parsePlan } from "../src/index.ts"
import { lines, parsed, places, refused } from "./plans.ts"

const withFrontMatter = (...yaml: ReadonlyArray<string>) =>
  lines("---", ...yaml, "---", "# Heading", "", "## Phase 1: T", "- [ ] task")

describe("front matter", () => {
  it("gives id, title, gates and limits", () => {
    const plan = parsed(
      parsePlan(
        withFrontMatter(
          "id: 02-01",
          "title: 'Sign in: now'",
          "gates:",
          "  quality: [npm test, npm run lint]",
          "  phase: human",
          "limits: { maxReviewIterations: 3, costBudget: 1.5 }"
        )
      )
    )
    assert.deepStrictEqual([plan.id, plan.title], ["02-01", "Sign in: now"])
    assert.deepStrictEqual(plan.frontMatter.gates, { quality: ["npm test", "npm run lint"], phase: "human" })
    assert.deepStrictEqual(plan.frontMatter.limits, { maxReviewIterations: 3, costBudget: 1.5 })
  })

  it("can be missing or empty; then the title is the first heading", () => {
    for (const text of ["# Heading\n## Phase 1: T\na", withFrontMatter(), withFrontMatter("", "")]) {
      const plan = parsed(parsePlan(text))
      assert.deepStrictEqual([plan.id, plan.title, plan.frontMatter], [undefined, "Heading", {}])
    }
  })

  it("can have CRLF line ends and a byte order mark", () => {
    const text = `\uFEFF${withFrontMatter("id: a", "gates:", "  phase: auto").replaceAll("\n", "\r\n")}`
    assert.deepStrictEqual(parsed(parsePlan(text)).frontMatter, { id: "a", gates: { phase: "auto" } })
  })

  it.each<[string, ReadonlyArray<string>, number, number, RegExp]>([
    ["an unknown key", ["id: a", "titel: b"], 3, 1, /unknown key 'titel'; did you mean 'title'\?/],
    ["an unknown key far from any", ["colour: red"], 2, 1, /known are id, title, gates, limits/],
    ["an unknown gate", ["gates:", "  qualty: [a]"], 3, 3, /did you mean 'quality'\?/],
    ["an unknown limit", ["limits:", "  maxReviews: 3"], 3, 3, /unknown key 'maxReviews'/],
    ["a number as id", ["id: 007"], 2, 1, /'id': expected string; put it in quotes/],
    ["an id that is not a path", ["id: ../../etc"], 2, 1, /'id': must be 1 to 64/],
    ["an empty title", ["title: ''"], 2, 1, /'title': must not be empty/],
    ["a negative limit", ["limits: { maxAutoRetries: -1 }"], 2, 11, /'limits.maxAutoRetries'/],
    ["a limit that is not a number", ["limits:", "  maxAutoRetries: many"], 3, 3, /'limits.maxAutoRetries'/],
    ["a gate that is not a list", ["gates: { quality: npm test }"], 2, 10, /'gates.quality'/],
    ["a command that is not text", ["gates:", "  quality:", "    - npm test", "    - 7"], 5, 7, /'gates.quality.1'/],
    ["a list", ["- a", "- b"], 2, 1, /must be keys and values/],
    ["only a comment", ["# id: a"], 2, 1, /must be keys and values/]
  ])("refuses %s with its line and column", (_, yaml, line, column, message) => {
    const [problem, ...others] = refused(parsePlan(withFrontMatter(...yaml)))
    assert.deepStrictEqual([problem?.code, problem?.line, problem?.column], ["front-matter-field", line, column])
    assert.match(problem?.message ?? "", message)
    assert.deepStrictEqual(others, [])
  })

  it.each<[string, ReadonlyArray<string>, number]>([
    ["a broken value", ["id: a", "title: 'b"], 3],
    ["a key given twice", ["id: a", "id: b"], 3],
    ["an unknown tag", ["id: !!js/function a"], 2],
    ["an unknown alias", ["id: *nobody"], 2],
    [
      "aliases that grow without end",
      [
        "a: &a [x,x,x,x,x,x,x,x,x]",
        ...["b", "c", "d", "e"].map((name, at) => `${name}: &${name} [${Array(9).fill(`*${"abcd"[at]}`).join(",")}]`)
      ],
      2
    ]
  ])("refuses %s", (_, yaml, line) => {
    const problems = refused(parsePlan(withFrontMatter(...yaml)))
    assert.deepStrictEqual(places(problems)[0]?.slice(0, 2), ["front-matter-syntax", line])
  })

  it("refuses a block that never ends", () => {
    const problems = refused(parsePlan(lines("---", "id: a", "", "## Phase 1: T", "- [ ] a")))
    assert.deepStrictEqual(places(problems), [["front-matter-syntax", 1, 1]])
  })

  it("is not confused with a rule further down", () => {
    assert.strictEqual(
      parsed(parsePlan(lines("# T", "", "---", "id: a", "", "---", "## Phase 1: T", "a"))).id,
      undefined
    )
  })

  it("uses the names of the run's options", () => {
    assert.sameMembers(Object.keys(PlanGates.fields), Object.keys(GateOptions.fields))
    assert.sameMembers(Object.keys(PlanLimits.fields), Object.keys(RunLimits.fields))
    assert.sameMembers(Object.keys(FrontMatter.fields), ["id", "title", "gates", "limits"])
  })
})

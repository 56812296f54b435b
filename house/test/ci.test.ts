/** What CI runs of what takes turns, and what its end says. */
import { assert, describe, it } from "@effect/vitest"
import { closingOf, type Report, type Stage, stageOf } from "../../.ci/closing.ts"
import {
  firstSeedOf,
  landingOf,
  landingText,
  longTestsOf,
  type StageInTurn,
  stagesInTurn,
  stagesOf
} from "../../.ci/landing.ts"

const nowMs = Date.UTC(2026, 10, 28, 23, 59)
const commits = [
  "0000000000000000000000000000000000000000",
  "0000000000000000000000000000000000000001",
  "82bafee0f64dca3c2cd24a88bcfe8951aa4ee552",
  "aafa3ce4ffffffffffffffffffffffffffffffff",
  // Of a repository that names its commits by SHA-256.
  "82bafee0f64dca3c2cd24a88bcfe8951aa4ee55282bafee0f64dca3c2cd24a88"
]

describe("the stages in turns", () => {
  it.each<[string, ReadonlyArray<StageInTurn>]>([
    ["0".repeat(40), ["cluster"]],
    [`${"0".repeat(39)}1`, ["agents"]],
    [`${"0".repeat(39)}2`, ["without-engine"]],
    [`${"0".repeat(39)}3`, ["cluster"]],
    ["82bafee0f64dca3c2cd24a88bcfe8951aa4ee552", ["without-engine"]]
  ])("are those of the commit's hash modulo their number: %s", (commit, expected) => {
    assert.deepStrictEqual(stagesOf(landingOf(commit, nowMs)), expected)
  })

  it("are those of the day where no commit is known, and each has its day", () => {
    const days = [0, 1, 2].map((day) => landingOf(undefined, nowMs + day * 24 * 60 * 60_000))
    assert.sameMembers(
      days.flatMap((day) => stagesOf(day)),
      [...stagesInTurn]
    )
    assert.include(landingText(landingOf(undefined, nowMs), ["cluster"], "1/3"), "no commit is known, so 2026-11-28")
  })

  it.each<[string, ReadonlyArray<StageInTurn>]>([
    ["all", ["cluster", "agents", "without-engine"]],
    ["agents", ["agents"]],
    ["agents,cluster", ["agents", "cluster"]],
    ["", ["cluster"]]
  ])("are what somebody asks for: '%s'", (wanted, expected) => {
    assert.deepStrictEqual(stagesOf(landingOf("0", nowMs), wanted), expected)
  })

  it("have each part of the long tests beside them, unless somebody wants everything", () => {
    const numbers = Array.from({ length: 9 }, (_, index) => landingOf(index.toString(16), nowMs))
    const both = numbers.map((landing) => `${stagesOf(landing).join()} ${longTestsOf(landing)}`)
    assert.strictEqual(new Set(both).size, 9)
    assert.sameMembers([...new Set(numbers.map((landing) => longTestsOf(landing)))], ["1/3", "2/3", "3/3"])
    assert.deepStrictEqual(
      numbers.map((landing) => longTestsOf(landing, "all")),
      numbers.map(() => "")
    )
  })

  it("refuse an unknown name", () => {
    assert.throws(
      () => stagesOf(landingOf("0", nowMs), "cluster,storm"),
      "No stage 'storm' takes turns. Say 'all', or some of cluster,agents,without-engine."
    )
  })

  it("are told with those of other landings, and how to run them all", () => {
    const landing = landingOf("82bafee0f64dca3c2cd24a88bcfe8951aa4ee552", nowMs)
    assert.strictEqual(
      landingText(landing, stagesOf(landing), "1/3"),
      `In turns (commit 82bafee0f64d): this landing runs without-engine, part 1/3 of the long tests, and stories from seed 1200968000 on. Other landings run cluster, agents and the other long tests; REPRISE_CI_STAGES=all runs everything.`
    )
    assert.notInclude(landingText(landing, stagesInTurn, ""), "Other landings")
  })
})

describe("the seeds of a landing", () => {
  it("are others for another commit, so far apart that two thousand stories fit between, and below 2³¹", () => {
    const seeds = commits.map((commit) => firstSeedOf(landingOf(commit, nowMs))).sort((a, b) => a - b)
    for (const [index, seed] of seeds.entries()) {
      assert.isAtLeast(seed, index === 0 ? 0 : (seeds[index - 1] ?? 0) + 4_000)
      assert.isBelow(seed, 2 ** 31 - 4_000)
    }
  })
})

const report = (passed: number, failed = 0, pending = 0, testResults: Report["testResults"] = []): Report => ({
  ...{ numPassedTests: passed, numFailedTests: failed, numPendingTests: pending },
  testResults
})

/** A landing whose turn is the cluster's. */
const stages: ReadonlyArray<Stage> = [
  { name: "check", code: 0, seconds: 61 },
  { name: "all", code: 0, seconds: 2_701 },
  { name: "cluster", code: 0, seconds: 440 },
  { name: "simulate", code: 0, seconds: 9 }
]
const reports: Readonly<Record<string, Report>> = { "all.json": report(100, 0, 2), "cluster.json": report(5) }

const close = (changed: ReadonlyArray<Stage>, found: Readonly<Record<string, Report>> = reports) =>
  closingOf(
    changed,
    (file) => found[file],
    (path) => path.replace("/repository/", "")
  )

const ending = (name: string, code: number) => stages.map((stage) => (stage.name === name ? { ...stage, code } : stage))

describe("the end of CI", () => {
  it("says how long each stage took, whose turn it was not, and how many passed", () => {
    assert.deepStrictEqual(close(stages), {
      passed: true,
      lines: [
        "Minutes of each stage:",
        "  1:01  check",
        " 45:01  all",
        "  7:20  cluster",
        "  0:09  simulate",
        "Not the turn of this landing: agents, without-engine",
        "109 passed, 0 failed, 2 skipped"
      ]
    })
  })

  it.each<[string, ReadonlyArray<Stage>, Readonly<Record<string, Report>>, string]>([
    ["a stage failed", ending("simulate", 1), reports, "simulate ended with 1"],
    [
      "a stage had no time left",
      ending("simulate", 124),
      reports,
      "simulate was ended after 9 s, since the time of CI was over"
    ],
    [
      "the chosen stage left no report",
      stages,
      { "all.json": report(100) },
      "cluster ended with 0, but coverage/cluster.json does not say that it ran a test"
    ],
    [
      "the chosen stage ran nothing",
      stages,
      { ...reports, "cluster.json": report(0) },
      "cluster ended with 0, but coverage/cluster.json does not say that it ran a test"
    ],
    [
      "the tests ran nothing",
      stages,
      { ...reports, "all.json": report(0, 0, 7) },
      "all ended with 0, but coverage/all.json does not say that it ran a test"
    ]
  ])("fails where %s", (_, changed, found, failure) => {
    const { lines, passed } = close(changed, found)
    assert.isFalse(passed)
    assert.include(lines, `failed: ${failure}`)
    assert.match(lines.at(-1) ?? "", / passed, 1 failed, /)
  })

  it.each([
    ["other vendors' agents were all skipped", "agents", report(0, 0, 9)],
    ["without an engine nothing was skipped", "without-engine", report(9)]
  ])("fails where %s", (_, name, of) => {
    const file = `${name}.json`
    const chosen = [...ending("cluster", 0).filter((stage) => stage.name !== "cluster"), { name, code: 0, seconds: 9 }]
    assert.isFalse(close(chosen, { ...reports, [file]: of }).passed)
    assert.isTrue(close(chosen, { ...reports, [file]: report(1, 0, 1) }).passed)
  })

  it("passes where a machine without a container engine skips the cluster", () => {
    assert.isTrue(close(stages, { ...reports, "cluster.json": report(0, 0, 5) }).passed)
  })

  it.each([
    ["the tests are missing", stages.filter(({ name }) => name !== "all")],
    ["no stage had its turn", stages.filter(({ name }) => name !== "cluster")]
  ])("fails where %s", (_, some) => {
    assert.isFalse(close(some).passed)
  })

  it("names each test that failed, and each file that could not be loaded, with why", () => {
    const file = { message: "", status: "failed", assertionResults: [] }
    const failed = report(3, 1, 0, [
      {
        ...{ ...file, name: "/repository/a.test.ts" },
        assertionResults: [
          { status: "passed", fullName: "x", failureMessages: [] },
          { status: "failed", fullName: "holds", failureMessages: ["expected 1\nto be 2"] }
        ]
      },
      { ...file, name: "/repository/b.test.ts", message: "Cannot find module" }
    ])
    const { lines } = close(ending("all", 1), { ...reports, "all.json": failed })
    assert.deepStrictEqual(
      lines.filter((line) => line.startsWith("failed: ")),
      [
        "failed: a.test.ts > holds\n  expected 1\n  to be 2",
        "failed: b.test.ts\n  Cannot find module",
        "failed: all ended with 1"
      ]
    )
  })

  it("takes stages as they are written by the script, and nothing else", () => {
    assert.deepStrictEqual(stageOf("without-engine=0,95"), { name: "without-engine", code: 0, seconds: 95 })
    assert.throws(() => stageOf("test=0"), "'test=0' is not a stage: it must be name=code,seconds.")
  })
})

import { assert, describe, it } from "@effect/vitest"
import { packagesOf, renderScores, sampleOf, scoresOf, survivorsOf, targets } from "../src/mutation.ts"

const paths = [
  "services/gate/src/actor/decide.ts",
  "services/gate/src/main.ts",
  "services/gate/test/decide.test.ts",
  "services/orchestrator/src/review/verdict.ts",
  "services/workspace/src/work/Git.ts",
  "libs/actor/src/runtime/lane.ts",
  "libs/actor/src/jetstream/consume.ts",
  "libs/plan/src/parsePlan.ts",
  "libs/plan/src/index.ts"
]

const mutant = (status: string, line: number) => ({
  status,
  mutatorName: "ConditionalExpression",
  replacement: "false",
  location: { start: { line, column: 3 } }
})

const report = {
  files: {
    "services/gate/src/actor/decide.ts": {
      source: "",
      mutants: [mutant("Killed", 1), mutant("Timeout", 2), mutant("Survived", 3), mutant("CompileError", 4)]
    },
    "libs/plan/src/parsePlan.ts": { source: "", mutants: [mutant("Killed", 1), mutant("Ignored", 2)] },
    "libs/plan/src/sections.ts": { source: "", mutants: [mutant("NoCoverage", 7)] }
  }
}

describe("a mutation run", () => {
  it("changes what decides, the actor's runtime and the plan library", () => {
    assert.deepStrictEqual(targets(paths, ""), [paths[0] ?? "", paths[3] ?? "", paths[5] ?? "", paths[7] ?? ""])
  })

  it("can be limited to a folder or a file", () => {
    assert.deepStrictEqual(targets(paths, "services/gate/"), [paths[0] ?? ""])
    assert.deepStrictEqual(targets(paths, "libs/plan/src/parsePlan.ts"), [paths[7] ?? ""])
    assert.deepStrictEqual(targets(paths, "services/gat"), [])
  })

  it("takes the files of one package after those of another", () => {
    assert.deepStrictEqual(packagesOf(["libs/plan/src/a.ts", "services/gate/src/b.ts", "libs/plan/src/c.ts"]), [
      { name: "libs/plan", files: ["libs/plan/src/a.ts", "libs/plan/src/c.ts"] },
      { name: "services/gate", files: ["services/gate/src/b.ts"] }
    ])
  })

  it("takes the same sample for the same seed, and each file at most once", () => {
    const files = Array.from({ length: 20 }, (_, index) => `f${index}`)
    const sample = sampleOf(files, 8, 7)
    assert.deepStrictEqual(sampleOf(files, 8, 7), sample)
    assert.notDeepEqual(sampleOf(files, 8, 8), sample)
    assert.strictEqual(new Set(sample).size, 8)
    assert.deepStrictEqual(sampleOf(files, 0, 7), files)
    assert.deepStrictEqual(sampleOf(files, 99, 7), files)
  })

  it("counts a timeout as noticed, and what no test reaches as not noticed", () => {
    assert.deepStrictEqual(scoresOf(report), [
      { folder: "libs/plan/src", noticed: 1, mutants: 2, met: false },
      { folder: "services/gate/src/actor", noticed: 2, mutants: 3, met: false },
      { folder: "all", noticed: 3, mutants: 5, met: false }
    ])
  })

  it("names each mutant that was not noticed by its place", () => {
    assert.deepStrictEqual(survivorsOf(report), [
      "services/gate/src/actor/decide.ts:3:3  ConditionalExpression → false",
      "libs/plan/src/sections.ts:7:3  ConditionalExpression → false"
    ])
  })

  it("prints the score of each folder with the target", () => {
    const text = renderScores(scoresOf(report))
    assert.include(text, "services/gate/src/actor   66.7 %  2 of 3  MISSED")
    assert.include(text, "target 95 %")
  })

  it("meets its target at 95 %, and misses it below", () => {
    const of = (killed: number) => ({
      files: {
        "a/b.ts": {
          source: "",
          mutants: Array.from({ length: 100 }, (_, n) => mutant(n < killed ? "Killed" : "Survived", n))
        }
      }
    })
    assert.isTrue(scoresOf(of(95))[0]?.met)
    assert.isFalse(scoresOf(of(94))[0]?.met)
  })
})

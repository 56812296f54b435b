import { execFileSync } from "node:child_process"
import { assert, describe, it } from "@effect/vitest"
import { repository } from "../src/sources.ts"

const run = (...mutants: ReadonlyArray<string>): { readonly tests: number; readonly told: ReadonlyArray<string> } => {
  const out = execFileSync(process.execPath, ["house/test/fixtures/mutants/run.ts", ...mutants], {
    cwd: repository,
    encoding: "utf8",
    env: { ...process.env, REPRISE_MUTATED_PACKAGE: "house/test/fixtures/mutants" }
  })
  return JSON.parse(out.trim().split("\n").at(-1) ?? "")
}

const by = (title: string) => `by 'house/test/fixtures/mutants/test/changed.test.ts#a program > ${title}'`

describe("the tests of a mutation run, loaded once", () => {
  it("notice what a mutant changes, and nothing that another one did", () => {
    const mutants = [
      "nothing",
      "noticed",
      "poison",
      "nothing",
      "endless",
      "noticed at load",
      "nothing at load",
      "noticed",
      "nothing"
    ]
    assert.deepStrictEqual(run(...mutants), {
      tests: 7,
      told: [
        "nothing: survived",
        `noticed: killed ${by("is right")}`,
        "poison: survived",
        "nothing: survived",
        "endless: timeout",
        `noticed at load: killed ${by("is loaded right")}`,
        "nothing at load: survived",
        `noticed: killed ${by("is right")}`,
        "nothing: survived"
      ]
    })
  })
})

import { createRequire } from "node:module"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { cruise } from "../src/cruise.ts"
import { repository } from "../src/sources.ts"
import { plantAll, readFixtures } from "./support/plant.ts"

const fixtures = readFixtures("boundaries")
const planted = plantAll(fixtures)
afterAll(planted.remove)

/** Rules may also be broken by folders, which are named without their files. */
const { violations } = cruise(
  planted.root,
  fixtures.flatMap(({ files }) => [...files.keys()].filter((path) => path.endsWith(".ts")))
)

const brokenBy = (files: ReadonlyMap<string, string>) => {
  const isOurs = (place: string) => [...files.keys()].some((path) => path === place || path.startsWith(`${place}/`))
  const rules = violations.filter(({ from }) => from.includes("planted") && isOurs(from)).map(({ rule }) => rule)
  return [...new Set(rules)].sort()
}

describe("the boundaries", () => {
  for (const { name, breaks, files } of fixtures) {
    it(breaks.length === 0 ? `allow: ${name}` : `catch: ${name}`, () => {
      assert.deepStrictEqual(brokenBy(files), breaks)
    })
  }

  it("have a planted break for every rule", () => {
    const rules: ReadonlyArray<{ readonly name: string }> = createRequire(import.meta.url)(
      join(repository, ".dependency-cruiser.cjs")
    ).forbidden
    const shown = new Set(fixtures.flatMap(({ breaks }) => breaks))
    assert.deepStrictEqual(
      rules.map(({ name }) => name).filter((name) => !shown.has(name)),
      []
    )
  })
})

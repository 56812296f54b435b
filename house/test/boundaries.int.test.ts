import { createRequire } from "node:module"
import { join } from "node:path"
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { cruise, type Violation } from "../src/cruise.ts"
import { repository } from "../src/sources.ts"
import { lacking } from "./support/lacking.ts"
import { plantAll, readFixtures } from "./support/plant.ts"

const fixtures = readFixtures("boundaries")

/** Rules may also be broken by folders, which are named without their files. */
const brokenBy = (violations: ReadonlyArray<Violation>, files: ReadonlyMap<string, string>) => {
  const isOurs = (place: string) => [...files.keys()].some((path) => path === place || path.startsWith(`${place}/`))
  const rules = violations.filter(({ from }) => from.includes("planted") && isOurs(from)).map(({ rule }) => rule)
  return [...new Set(rules)].sort()
}

describe.skipIf(lacking)("the boundaries", () => {
  let violations: ReadonlyArray<Violation> = []
  beforeAll(() => {
    const planted = plantAll(fixtures)
    const places = fixtures.flatMap(({ files }) => [...files.keys()].filter((path) => path.endsWith(".ts")))
    violations = cruise(planted.root, places).violations
    return planted.remove
  })
  for (const { name, breaks, files } of fixtures) {
    it(breaks.length === 0 ? `allow: ${name}` : `catch: ${name}`, () => {
      assert.deepStrictEqual(brokenBy(violations, files), breaks)
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

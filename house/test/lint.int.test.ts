import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { toolPackage } from "../src/installTools.ts"
import { lacking } from "./support/lacking.ts"
import { plantAll, readFixtures } from "./support/plant.ts"

const fixtures = readFixtures("lint")

interface Report {
  readonly diagnostics: ReadonlyArray<{
    readonly category: string
    readonly location: { readonly path: string | { readonly file: string } }
  }>
}

const lint = (root: string): Report => {
  const paths = fixtures.flatMap(({ files }) => [...files.keys()])
  const program = join(toolPackage("@biomejs/biome"), "bin/biome")
  const options = ["lint", "--error-on-warnings", "--reporter=json", "--max-diagnostics=none"]
  const { stdout } = spawnSync(process.execPath, [program, ...options, ...paths], {
    cwd: root,
    encoding: "utf8"
  })
  return JSON.parse(stdout.slice(stdout.indexOf("{")))
}

const brokenIn = ({ diagnostics }: Report, files: ReadonlyMap<string, string>) => {
  const found = diagnostics.filter(({ location: { path } }) => files.has(typeof path === "string" ? path : path.file))
  return [...new Set(found.map(({ category }) => category.replace("lint/", "")))].sort()
}

describe.skipIf(lacking)("the lint", () => {
  let report: Report = { diagnostics: [] }
  beforeAll(() => {
    const planted = plantAll(fixtures)
    report = lint(planted.root)
    return planted.remove
  })
  for (const { name, breaks, files } of fixtures) {
    it(breaks.length === 0 ? `allows: ${name}` : `catches: ${name}`, () => {
      assert.deepStrictEqual(brokenIn(report, files), breaks)
    })
  }
})

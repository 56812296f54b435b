import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { repository } from "../src/sources.ts"
import { plantAll, readFixtures } from "./support/plant.ts"

const fixtures = readFixtures("lint")
const planted = plantAll(fixtures)
afterAll(planted.remove)

interface Report {
  readonly diagnostics: ReadonlyArray<{
    readonly category: string
    readonly location: { readonly path: string | { readonly file: string } }
  }>
}

const lint = (): Report => {
  const paths = fixtures.flatMap(({ files }) => [...files.keys()])
  const program = join(repository, "node_modules/@biomejs/biome/bin/biome")
  const options = ["lint", "--error-on-warnings", "--reporter=json", "--max-diagnostics=none"]
  const { stdout } = spawnSync(process.execPath, [program, ...options, ...paths], {
    cwd: planted.root,
    encoding: "utf8"
  })
  return JSON.parse(stdout.slice(stdout.indexOf("{")))
}

const { diagnostics } = lint()

const brokenIn = (files: ReadonlyMap<string, string>) => {
  const found = diagnostics.filter(({ location: { path } }) => files.has(typeof path === "string" ? path : path.file))
  return [...new Set(found.map(({ category }) => category.replace("lint/", "")))].sort()
}

describe("the lint", () => {
  for (const { name, breaks, files } of fixtures) {
    it(breaks.length === 0 ? `allows: ${name}` : `catches: ${name}`, () => {
      assert.deepStrictEqual(brokenIn(files), breaks)
    })
  }
})

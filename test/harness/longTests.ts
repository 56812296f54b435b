/** Test files that are tagged as long, and which of them take their turn (docs/decisions/0047-long-tests.md). */
import { globSync, readFileSync } from "node:fs"

const tag = "// @module-tag long"

const patterns = [
  "{libs,services}/*/test/**/*.{int,e2e}.test.ts",
  "{cli/test,console/test,house/test,test}/**/*.{int,e2e}.test.ts"
]

/** Relative to the repository, in the order of their paths. */
export const longTests = (root: string): ReadonlyArray<string> =>
  globSync(patterns, { cwd: root, exclude: (path) => path.includes("node_modules") })
    .filter((path) => readFileSync(`${root}/${path}`, "utf8").startsWith(tag))
    .toSorted()

/**
 * Those that are left out. `turn`: `2/3` runs the second, fifth, eighth file and so on, so that neighbours, which take about
 * as long, run in different turns; empty or absent: nothing is left out.
 */
export const leftOut = (files: ReadonlyArray<string>, turn = ""): ReadonlyArray<string> => {
  if (turn === "") return []
  const [, number = "", count = ""] = /^(\d+)\/(\d+)$/.exec(turn) ?? []
  const [at, of] = [Number(number), Number(count)]
  if (!(at >= 1 && at <= of))
    throw new Error(`REPRISE_LONG_TESTS is '${turn}': say '1/3' for the first of three turns.`)
  return files.filter((_, index) => index % of !== at - 1)
}

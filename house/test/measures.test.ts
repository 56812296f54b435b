import { assert, describe, it } from "@effect/vitest"
import { findRepeats } from "../src/duplicates.ts"
import {
  type Building,
  buildings,
  circlesOf,
  folderArrows,
  folderOf,
  type Import,
  pairsBothWays,
  upwardArrows,
  withoutFloors
} from "../src/floors.ts"
import { measureHouse, renderMeasures } from "../src/measures.ts"
import { fileSizes, functionSizes } from "../src/sizes.ts"
import { countLines, productionFiles } from "../src/sources.ts"

const imports = (...pairs: ReadonlyArray<string>): ReadonlyArray<Import> =>
  pairs.map((pair) => {
    const [from = "", to = ""] = pair.split(" ")
    return { from: `cli/src/${from}`, to: `cli/src/${to}` }
  })

const buildingAt = (root: string): Building => {
  const found = buildings.find((building) => building.root === root)
  if (found === undefined) throw new Error(`no building at ${root}`)
  return found
}
const cli = buildingAt("cli/src")
const orchestrator = buildingAt("services/orchestrator/src")
const arrowsOf = (of: ReadonlyArray<Import>) => folderArrows(cli, of)

const shown = (arrows: ReadonlyArray<Import>) => arrows.map(({ from, to }) => `${from} → ${to}`)

describe("the floors of a building", () => {
  it("takes each flow as a folder of its own", () => {
    assert.strictEqual(folderOf(cli, "cli/src/flows/run/follow.ts"), "flows/run")
    assert.strictEqual(folderOf(cli, "cli/src/flows/shared.ts"), "flows")
    assert.strictEqual(folderOf(cli, "cli/src/system/hosts/local.ts"), "system")
    assert.strictEqual(folderOf(cli, "cli/src/main.ts"), "main")
  })

  it("accepts arrows downward and within a layer", () => {
    const arrows = arrowsOf(
      imports(
        "main.ts commands/root.ts",
        "commands/run.ts flows/run/a.ts",
        "flows/run/a.ts flows/gate/b.ts",
        "views/a.ts project/b.ts",
        "config/a.ts terminal/b.ts"
      )
    )
    assert.lengthOf(arrows, 5)
    assert.deepStrictEqual(upwardArrows(cli, arrows), [])
    assert.deepStrictEqual(circlesOf(arrows), [])
  })

  it("finds an arrow upward", () => {
    const arrows = arrowsOf(
      imports("system/a.ts flows/run/b.ts", "system/a.ts flows/run/c.ts", "terminal/a.ts views/b.ts")
    )
    assert.deepStrictEqual(shown(upwardArrows(cli, arrows)), ["system → flows/run", "terminal → views"])
  })

  it("finds a folder that has no layer", () => {
    assert.deepStrictEqual(shown(upwardArrows(cli, arrowsOf(imports("commands/a.ts misc/b.ts")))), ["commands → misc"])
  })

  it("finds a circle of folders, also one between flows and one of three", () => {
    assert.deepStrictEqual(
      circlesOf(arrowsOf(imports("flows/run/a.ts flows/gate/b.ts", "flows/gate/c.ts flows/run/d.ts"))),
      [["flows/gate", "flows/run"]]
    )
    assert.deepStrictEqual(
      circlesOf(
        arrowsOf(
          imports(
            "views/a.ts config/a.ts",
            "config/b.ts trust/b.ts",
            "trust/c.ts views/c.ts",
            "trust/c.ts terminal/d.ts"
          )
        )
      ),
      [["config", "trust", "views"]]
    )
  })

  it("finds two folders that import each other, once", () => {
    const arrows = arrowsOf(imports("views/a.ts config/a.ts", "config/b.ts views/b.ts", "trust/a.ts config/a.ts"))
    assert.deepStrictEqual(shown(pairsBothWays(arrows)), ["config → views"])
  })

  it("takes no family of the orchestrator that imports the machine, or the one above it", () => {
    const inside = (from: string, to: string) => ({
      ...{ from: `services/orchestrator/src/${from}`, to: `services/orchestrator/src/${to}` }
    })
    const arrows = folderArrows(orchestrator, [
      inside("author/a.ts", "checkpoint/b.ts"),
      inside("machine/a.ts", "author/b.ts"),
      inside("checkpoint/a.ts", "author/b.ts"),
      inside("phase/a.ts", "machine/b.ts")
    ])
    assert.deepStrictEqual(shown(upwardArrows(orchestrator, arrows)), ["checkpoint → author", "phase → machine"])
  })

  it("are told for every service", () => {
    const paths = ["services/orchestrator/src/a.ts", "services/new/src/a.ts", "services/new/src/b/c.ts"]
    assert.deepStrictEqual(withoutFloors(new Map(paths.map((path) => [path, ""]))), ["services/new/src"])
  })

  it("does not take imports inside a folder for a circle", () => {
    assert.deepStrictEqual(circlesOf(arrowsOf(imports("views/a.ts views/b.ts", "views/b.ts views/a.ts"))), [])
  })
})

describe("sizes", () => {
  it("counts lines without the empty one at the end", () => {
    assert.strictEqual(countLines(""), 0)
    assert.strictEqual(countLines("a"), 1)
    assert.strictEqual(countLines("a\nb\n"), 2)
  })

  it("puts the longest file first", () => {
    assert.deepStrictEqual(
      fileSizes(
        new Map([
          ["a.ts", "1\n"],
          ["b.ts", "1\n2\n"]
        ])
      ),
      [
        { place: "b.ts", lines: 2 },
        { place: "a.ts", lines: 1 }
      ]
    )
  })

  it("finds functions of every kind, with the line on which they begin", () => {
    const text =
      "const a = () =>\n  1\nfunction b() {\n  return function* () {\n    yield 1\n  }\n}\nclass C {\n  m() {}\n}\n"
    assert.deepStrictEqual(functionSizes(new Map([["a.ts", text]])), [
      { place: "a.ts:3", lines: 5 },
      { place: "a.ts:4", lines: 3 },
      { place: "a.ts:1", lines: 2 },
      { place: "a.ts:9", lines: 1 }
    ])
  })

  it("takes only the sources of libraries, services and the command for production code", () => {
    const paths = [
      "cli/src/a.ts",
      "libs/x/src/b.ts",
      "services/y/src/c/d.ts",
      "libs/x/test/e.ts",
      "house/src/f.ts",
      "cli/src/g.md"
    ]
    assert.deepStrictEqual([...productionFiles(new Map(paths.map((path) => [path, ""]))).keys()], paths.slice(0, 3))
  })
})

const six = ["one()", "two()", "three()", "four()", "five()", "six()"].join("\n")

describe("repeated code", () => {
  it("is found in two files, with both places", () => {
    assert.deepStrictEqual(
      findRepeats(
        new Map([
          ["a.ts", `start()\n${six}\n`],
          ["b.ts", six]
        ])
      ),
      [{ places: ["a.ts:2", "b.ts:1"] }]
    )
  })

  it("is found when indentation and comments differ", () => {
    assert.lengthOf(
      findRepeats(
        new Map([
          ["a.ts", six],
          ["b.ts", six.replaceAll("\n", "\n  // why\n  ")]
        ])
      ),
      1
    )
  })

  it("is not seen in imports, in comments, or in five lines", () => {
    const imported = 'import {\n  a,\n  b,\n  c,\n  d,\n  e\n} from "x"\n'
    const comment = `/**\n${six.replaceAll("()", "")}\n*/\n`
    const five = six.split("\n").slice(1).join("\n")
    const text = `${imported}${comment}${five}`
    assert.deepStrictEqual(
      findRepeats(
        new Map([
          ["a.ts", text],
          ["b.ts", `${text}\nother()`]
        ])
      ),
      []
    )
  })
})

const long = "call()\n".repeat(30)
const good = new Map([
  ["libs/x/src/a.ts", long],
  ["docs/a.md", "# A\n"]
])

const missed = (sources: ReadonlyMap<string, string>, cli: ReadonlyArray<Import> = []) =>
  measureHouse(sources, cli)
    .filter(({ met }) => !met)
    .map(({ name }) => name)

describe("the measures of the house", () => {
  it("meet their targets in a good house", () => {
    assert.deepStrictEqual(missed(good), [])
  })

  it("miss them for each planted fault", () => {
    assert.deepStrictEqual(missed(good, imports("views/a.ts config/b.ts", "config/c.ts views/d.ts")), [
      "pairs of folders that import each other",
      "circles of folders"
    ])
    assert.deepStrictEqual(missed(good, imports("views/a.ts views/b.ts", "views/b.ts views/a.ts")), [
      "circles of files"
    ])
    assert.deepStrictEqual(missed(good, imports("system/a.ts commands/b.ts")), ["arrows upward between floors"])
    assert.deepStrictEqual(missed(new Map([...good, ["services/new/src/a.ts", long]])), ["services without floors"])
    assert.deepStrictEqual(missed(new Map([...good, ["docs/b.md", "[a](none.md)"]])), ["citations that do not resolve"])
    assert.deepStrictEqual(missed(new Map([...good, ["libs/x/src/b.ts", "call()\n".repeat(24)]])), [
      "source files under 25 lines"
    ])
    assert.deepStrictEqual(missed(new Map([...good, ["libs/x/test/b.ts", "call()\n".repeat(401)]])), [
      "longest file (lines)"
    ])
  })

  it("stay met at their limits", () => {
    const ten = Array.from({ length: 9 }, (_, index) => [`libs/x/src/${index}.ts`, long] as const)
    assert.deepStrictEqual(
      missed(new Map([...ten, ["libs/x/src/short.ts", "call()\n"], ["libs/x/test/b.ts", "call()\n".repeat(400)]])),
      []
    )
  })

  it("are printed as a table, with the places that miss a target", () => {
    const text = renderMeasures(measureHouse(new Map([...good, ["docs/b.md", "[a](none.md)"]]), []), false)
    assert.match(text, /^citations that do not resolve +1 +0 +MISSED$/m)
    assert.include(text, "docs/b.md:1  none.md  there is no such file")
    assert.notInclude(text, "libs/x/src/a.ts  30")
  })
})

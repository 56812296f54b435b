/** The measures of the house: each with its value now, its target, and what misses the target. */
import type { BrokenCitation } from "./citations.ts"
import { findBrokenCitations } from "./citations.ts"
import { findRepeats } from "./duplicates.ts"
import {
  type Building,
  buildings,
  circlesOf,
  folderArrows,
  type Import,
  importsIn,
  pairsBothWays,
  upwardArrows,
  withoutFloors
} from "./floors.ts"
import { fileSizes, functionSizes } from "./sizes.ts"
import { countLines, isForTests, productionFiles, type Sources } from "./sources.ts"

export interface Measure {
  readonly name: string
  readonly now: string
  /** Without a target the measure is only shown. */
  readonly target: string | undefined
  readonly met: boolean
  /** What misses the target, or what comes closest to it. */
  readonly details: ReadonlyArray<string>
}

const shortLines = 25
const longLines = 400
const shortShare = 10

export const showCitation = ({ file, line, citation, problem }: BrokenCitation): string =>
  `${file}:${line}  ${citation}  ${problem}`

/** A measure whose target is that there are none. */
const none = (name: string, found: ReadonlyArray<string>): Measure => ({
  name,
  now: String(found.length),
  target: "0",
  met: found.length === 0,
  details: found
})

/** A measure that no building may have. */
const ofBuildings = (name: string, findIn: (building: Building) => ReadonlyArray<string>): Measure =>
  none(
    name,
    buildings.flatMap((building) => findIn(building).map((detail) => `${building.root}: ${detail}`))
  )

/** `imports` are those between all files of the command line and the services. */
const floorMeasures = (sources: Sources, imports: ReadonlyArray<Import>): ReadonlyArray<Measure> => [
  none("services without floors", withoutFloors(sources)),
  ofBuildings("arrows upward between floors", (building) =>
    upwardArrows(building, folderArrows(building, imports)).map(({ from, to }) => `${from} → ${to}`)
  ),
  ofBuildings("pairs of folders that import each other", (building) =>
    pairsBothWays(folderArrows(building, imports)).map(({ from, to }) => `${from} ↔ ${to}`)
  ),
  ofBuildings("circles of folders", (building) =>
    circlesOf(folderArrows(building, imports)).map((circle) => circle.join(" ↔ "))
  ),
  ofBuildings("circles of files", (building) =>
    circlesOf(importsIn(building, imports)).map((circle) => circle.join(" ↔ "))
  )
]

/** All lines of TypeScript: of production code and of the rest of the sources, or of tests and what only they use. */
const lineMeasures = (sources: Sources): ReadonlyArray<Measure> => {
  const isTest = (path: string) => isForTests(path) || /(^|\/)test\//.test(path) || path.startsWith("libs/testing/")
  const code = [...sources].filter(([path]) => /\.tsx?$/.test(path))
  const lines = (of: typeof code) => of.reduce((sum, [, text]) => sum + countLines(text), 0)
  const tests = code.filter(([path]) => isTest(path))
  const measure = (name: string, count: number): Measure => ({
    ...{ name, now: String(count), target: undefined, met: true, details: [] }
  })
  return [measure("lines of source", lines(code) - lines(tests)), measure("lines of tests", lines(tests))]
}

/** `imports` are those between files of the command line and of the services. */
export const measureHouse = (sources: Sources, imports: ReadonlyArray<Import>): ReadonlyArray<Measure> => {
  const production = productionFiles(sources)
  const files = fileSizes(new Map([...sources].filter(([path]) => path.endsWith(".ts"))))
  const short = fileSizes(production).filter(({ lines }) => lines < shortLines)
  const share = production.size === 0 ? 0 : (100 * short.length) / production.size
  const functions = functionSizes(production)
  const repeats = findRepeats(production)
  const show = ({ place, lines }: { readonly place: string; readonly lines: number }) => `${place}  ${lines}`
  return [
    ...floorMeasures(sources, imports),
    none("citations that do not resolve", findBrokenCitations(sources).map(showCitation)),
    {
      name: `source files under ${shortLines} lines`,
      now: `${share.toFixed(1)} % (${short.length} of ${production.size})`,
      target: `≤ ${shortShare} %`,
      met: share <= shortShare,
      details: short.map(show)
    },
    {
      name: "longest file (lines)",
      now: String(files[0]?.lines ?? 0),
      target: `≤ ${longLines}`,
      met: (files[0]?.lines ?? 0) <= longLines,
      details: files.filter(({ lines }, index) => lines > longLines || index === 0).map(show)
    },
    ...lineMeasures(sources),
    {
      name: "longest function (lines)",
      now: String(functions[0]?.lines ?? 0),
      target: undefined,
      met: true,
      details: functions.slice(0, 5).map(show)
    },
    {
      name: "six lines that stand in several places",
      now: String(repeats.length),
      target: undefined,
      met: true,
      details: repeats.slice(0, 10).map(({ places }) => places.join(" = "))
    }
  ]
}

/** The measures as a table, and below it what misses its target; with `all`, what comes closest too. */
export const renderMeasures = (measures: ReadonlyArray<Measure>, all: boolean): string => {
  const rows = [
    ["measure", "now", "target", ""],
    ...measures.map(({ name, now, target, met }) => [
      name,
      now,
      target ?? "",
      target === undefined ? "" : met ? "ok" : "MISSED"
    ])
  ]
  const width = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0))
  const table = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(width(column)))
      .join("  ")
      .trimEnd()
  )
  const details = measures
    .filter(({ met, details }) => details.length > 0 && (all || !met))
    .flatMap(({ name, details }) => ["", `${name}:`, ...details.map((detail) => `  ${detail}`)])
  return `${[...table, ...details].join("\n")}\n`
}

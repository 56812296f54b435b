/**
 * `npm run house [-- --all]`: prints the measures, and exits with 1 when one misses its target.
 * `npm run citations`: only the citations, as a part of `npm run check`.
 */
import { findBrokenCitations } from "./citations.ts"
import { cruise } from "./cruise.ts"
import { installTools } from "./installTools.ts"
import { measureHouse, renderMeasures, showCitation } from "./measures.ts"
import { readSources, repository } from "./sources.ts"

const isCli = (path: string) => path.startsWith("cli/src/")

const checkCitations = (): boolean => {
  const broken = findBrokenCitations(readSources(repository))
  process.stdout.write(broken.map((citation) => `${showCitation(citation)}\n`).join(""))
  process.stdout.write(
    broken.length === 0 ? "Every citation resolves.\n" : `${broken.length} citations do not resolve.\n`
  )
  return broken.length === 0
}

const printMeasures = (all: boolean): boolean => {
  if (!installTools()) return false
  const imports = cruise(repository, ["cli/src"]).imports.filter(({ from, to }) => isCli(from) && isCli(to))
  const measures = measureHouse(readSources(repository), imports)
  process.stdout.write(renderMeasures(measures, all))
  return measures.every(({ met }) => met)
}

const options = process.argv.slice(2)
process.exitCode = (options.includes("citations") ? checkCitations() : printMeasures(options.includes("--all"))) ? 0 : 1

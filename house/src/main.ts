/**
 * `npm run house [-- --all]`: prints the measures, and exits with 1 when one misses its target.
 * `npm run check -- citations`, `npm run check -- readers`, `npm run check -- patterns`: parts of `npm run check`. They check citations, who reads files in
 * a way of its own, and patterns: regular expressions that may be slow or read lines wrongly, and phrases that are hard to read.
 */
import { findBrokenCitations } from "./citations.ts"
import { cruise } from "./cruise.ts"
import { findFileReaders, showFileReader, showUndecided } from "./fileReaders.ts"
import { installTools } from "./installTools.ts"
import { findLinePatterns, showLinePattern } from "./linePatterns.ts"
import { measureHouse, renderMeasures, showCitation } from "./measures.ts"
import { findHardPhrases, showHardPhrase } from "./phrases.ts"
import { findSlowPatterns, showSlowPattern } from "./slowPatterns.ts"
import { readSources, repository } from "./sources.ts"

const checkCitations = (): boolean => {
  const broken = findBrokenCitations(readSources(repository))
  process.stdout.write(broken.map((citation) => `${showCitation(citation)}\n`).join(""))
  process.stdout.write(
    broken.length === 0 ? "Every citation resolves.\n" : `${broken.length} citations do not resolve.\n`
  )
  return broken.length === 0
}

const checkReaders = (): boolean => {
  const { refused, undecided, unused } = findFileReaders(readSources(repository))
  const lines = [
    ...refused.map(showFileReader),
    ...undecided.map(showUndecided),
    ...unused.map((entry) => `${entry} reads no file any more: take it out of house/src/fileReaders.ts.`)
  ]
  process.stdout.write(lines.map((line) => `${line}\n`).join(""))
  if (lines.length === 0) process.stdout.write("Foreign files are read in one way.\n")
  return lines.length === 0
}

const checkPatterns = (): boolean => {
  const sources = readSources(repository)
  const { slow, unused } = findSlowPatterns(sources)
  const { hard, unused: withoutPhrases } = findHardPhrases(sources)
  const lines = [
    ...findLinePatterns(sources).map(showLinePattern),
    ...slow.map(showSlowPattern),
    ...unused.map(
      (entry) => `${entry} builds no regular expression any more: take it out of house/src/slowPatterns.ts.`
    ),
    ...hard.map(showHardPhrase),
    ...withoutPhrases.map((entry) => `${entry} holds no such phrase any more: take it out of house/src/phrases.ts.`)
  ]
  process.stdout.write(lines.map((line) => `${line}\n`).join(""))
  if (lines.length === 0)
    process.stdout.write("No regular expression is slow or misreads line ends, and no phrase is hard to read.\n")
  return lines.length === 0
}

const printMeasures = (all: boolean): boolean => {
  if (!installTools()) return false
  const measures = measureHouse(readSources(repository), cruise(repository, ["cli/src", "services"]).imports)
  process.stdout.write(renderMeasures(measures, all))
  return measures.every(({ met }) => met)
}

const options = process.argv.slice(2)
const check = (): boolean => {
  if (options.includes("citations")) return checkCitations()
  if (options.includes("patterns")) return checkPatterns()
  return options.includes("readers") ? checkReaders() : printMeasures(options.includes("--all"))
}
process.exitCode = check() ? 0 : 1

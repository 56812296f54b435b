/**
 * Prints the end of CI: how long each stage took, what failed and why, then the closing line. The arguments are the stages
 * that ran, with exit codes and seconds: `test=0,1800`.
 */
import { existsSync, readFileSync } from "node:fs"
import { join, relative } from "node:path"
import { closingOf, type Report, stageOf } from "./closing.ts"

const reportIn = (file: string): Report | undefined => {
  const path = join("coverage", file)
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : undefined
}

const { lines, passed } = closingOf(process.argv.slice(2).map(stageOf), reportIn, (path) => relative(".", path))
process.stdout.write(`${lines.join("\n")}\n`)
process.exitCode = passed ? 0 : 1

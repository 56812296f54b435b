/**
 * `npm run nightly -- mutants [--only PATH] [--sample N] [--seed S]`: changes the pure core in small ways, one at a time, and
 * shows which changes no unit test notices. Takes minutes for a folder and hours for everything, so it is for the night,
 * not for CI.
 *
 * `--only` takes a folder or a file, and may be given more than once; `--sample` takes N of the files, chosen by the
 * seed. Exits with 1 when a folder's score is below the target. A package's mutants meet that package's own tests only,
 * because the copy in which they are made links to the other packages as they are. Reports are in `coverage/mutation/`.
 */
import { spawnSync } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { installTools, toolPackage } from "./installTools.ts"
import { packagesOf, renderScores, sampleOf, scoresOf, survivorsOf, targets } from "./mutation.ts"
import { listPaths, repository } from "./sources.ts"

const { values } = parseArgs({
  options: {
    only: { type: "string", multiple: true, default: [""] },
    sample: { type: "string", default: "0" },
    seed: { type: "string", default: "1" }
  }
})

if (!installTools()) process.exit(1)
const paths = listPaths(repository)
const chosen = [...new Set(values.only.flatMap((place) => targets(paths, place)))]
const files = sampleOf(chosen, Number(values.sample), Number(values.seed))
if (files.length === 0) throw new Error(`No file of the pure core lies in '${values.only.join("', '")}'.`)

const mutate = (name: string, mutated: ReadonlyArray<string>) => {
  const [first = ""] = values.only
  const part = first.startsWith(name) ? first : name
  const folder = `coverage/mutation/${part.replace(/\W+/g, "-")}`
  const report = `${folder}/report.json`
  const configuration = `${folder}/stryker.json`
  mkdirSync(join(repository, folder), { recursive: true })
  writeFileSync(
    join(repository, configuration),
    JSON.stringify({
      testRunner: "loaded-tests",
      plugins: [join(repository, "house/src/mutants/strykerPlugin.ts")],
      mutate: mutated,
      concurrency: 2,
      // On a busy machine a slow test must not count as a mutant that was noticed.
      timeoutMS: 15_000,
      reporters: ["progress-append-only", "json"],
      jsonReporter: { fileName: report },
      tempDirName: `${folder}/copy`,
      ignorePatterns: ["coverage", ".turbo"]
    })
  )
  const { status } = spawnSync(
    process.execPath,
    [join(toolPackage("@stryker-mutator/core"), "bin/stryker.js"), "run", configuration],
    { cwd: repository, stdio: "inherit", env: { ...process.env, REPRISE_MUTATED_PACKAGE: name } }
  )
  if (status !== 0) throw new Error(`Stryker ended with ${status} in ${name}.`)
  return JSON.parse(readFileSync(join(repository, report), "utf8")).files
}

const reports = packagesOf(files).map(({ files, name }) => mutate(name, files))
const report = { files: Object.assign({}, ...reports) }
const scores = scoresOf(report)
process.stdout.write(
  survivorsOf(report)
    .map((line) => `${line}\n`)
    .join("")
)
process.stdout.write(renderScores(scores))
process.exitCode = scores.every(({ met }) => met) ? 0 : 1

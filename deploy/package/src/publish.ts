/**
 * `npm run package -- publish [--really]`: builds the package, says what stands in the way of a release, and shows what
 * npm would publish. With `--really` it publishes, if nothing stands in the way.
 */
import { execFileSync, spawnSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { obstacles } from "./readiness.ts"

const root = new URL("../../..", import.meta.url).pathname
const { values } = parseArgs({ options: { really: { type: "boolean", default: false } } })

const linesOf = (...args: ReadonlyArray<string>): ReadonlyArray<string> =>
  execFileSync("git", [...args], { cwd: root, encoding: "utf8" })
    .split("\n")
    .filter(Boolean)

/** None where the registry does not know the package yet. */
const publishedVersions = (): ReadonlyArray<string> => {
  const { error, status, stderr, stdout } = spawnSync("npm", ["view", "reprise", "versions", "--json"], {
    encoding: "utf8"
  })
  if (error !== undefined) throw error
  if (status === 0) return [JSON.parse(stdout)].flat()
  if (/E404/.test(stdout + stderr)) return []
  throw new Error(`The registry does not say which versions it has:\n${stderr.trim()}`)
}

execFileSync(process.execPath, [join(root, "deploy/package/src/build.ts")], { cwd: root, stdio: "inherit" })
const { version } = JSON.parse(readFileSync(join(root, "cli/package.json"), "utf8")) as { readonly version: string }
const file = readdirSync(join(root, "dist")).find((name) => name === `reprise-${version}.tgz`)
if (file === undefined) throw new Error(`dist/reprise-${version}.tgz was not built.`)

const inTheWay = obstacles({
  version,
  changedFiles: linesOf("status", "--porcelain"),
  tags: linesOf("tag", "--points-at", "HEAD"),
  changelog: readFileSync(join(root, "CHANGELOG.md"), "utf8"),
  published: publishedVersions()
})
for (const sentence of inTheWay) process.stderr.write(`${sentence}\n`)
if (values.really && inTheWay.length > 0) {
  process.stderr.write("Nothing was published.\n")
  process.exitCode = 1
} else {
  const dryRun = values.really ? [] : ["--dry-run"]
  const args = ["publish", join(root, "dist", file), "--access", "public", "--ignore-scripts", ...dryRun]
  process.exitCode = spawnSync("npm", args, { stdio: "inherit" }).status ?? 1
  if (!values.really) process.stderr.write("Nothing was published: '--really' does it.\n")
}

/**
 * `npm run check [-- NAME …]`: all checks, or those that are named. They are the scripts of `house/package.json`, and `types` of
 * every package; turbo runs them side by side, and remembers those whose files did not change.
 */
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { installTools, withTools } from "./installTools.ts"
import { repository } from "./sources.ts"

const scripts: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(join(repository, "house/package.json"), "utf8")
).scripts

const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => scripts[name] === undefined)
if (unknown.length > 0) {
  process.stderr.write(`There is no check ${unknown.join(", ")}. There are: ${Object.keys(scripts).join(", ")}.\n`)
  process.exit(2)
}
if (!installTools()) process.exit(1)
const tasks = wanted.length === 0 ? ["check"] : wanted
const { status } = spawnSync(
  "turbo",
  ["--skip-infer", "run", ...tasks, "--continue", `--output-logs=${wanted.length === 0 ? "errors-only" : "full"}`],
  { cwd: repository, stdio: "inherit", env: withTools(process.env) }
)
process.exit(status ?? 1)

/**
 * `npm run tool -- NAME …`: runs a tool that checks the code, such as `tsc --noEmit -p libs/plan`, and installs the tools
 * before if they are not there. The scripts of the root's package.json run theirs with it.
 */
import { spawnSync } from "node:child_process"
import { installTools, withTools } from "./installTools.ts"

const [name, ...options] = process.argv.slice(2)
if (name === undefined) {
  process.stderr.write("Which tool? 'npm run tool -- tsc --noEmit -p libs/plan' runs one.\n")
  process.exit(2)
}
if (!installTools()) process.exit(1)
const { error, status } = spawnSync(name, options, { stdio: "inherit", env: withTools(process.env) })
if (error !== undefined) process.stderr.write(`${name} does not run: ${error.message}\n`)
process.exit(status ?? 1)

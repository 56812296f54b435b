/** The global setup that names Claude to the tests, if `npm ci --prefix test/claude` has installed it. */
import { existsSync } from "node:fs"
import { join } from "node:path"

const packages = join(import.meta.dirname, "../claude/node_modules/@anthropic-ai")
const platform = `claude-agent-sdk-${process.platform}-${process.arch}`
const programs = [platform, `${platform}-musl`].map((name) => join(packages, name, "claude"))

export default (): void => {
  if ((process.env["REPRISE_CLAUDE"] ?? "") !== "") return
  const found = programs.find((program) => existsSync(program))
  if (found !== undefined) process.env["REPRISE_CLAUDE"] = found
  // Several projects have this setup, and one notice is enough.
  else if (process.env["REPRISE_CLAUDE_MISSED"] === undefined) {
    process.env["REPRISE_CLAUDE_MISSED"] = "said"
    process.stderr.write("Tests on Claude are skipped: `npm ci --prefix test/claude` installs it (430 MB).\n")
  }
}

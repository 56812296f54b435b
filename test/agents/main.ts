/**
 * `npm run test:agents [-- [--sandbox] NAME …]`: installs agents over the Agent Client Protocol beside this file, if they are
 * not there, and runs the contract of the port on them, with `--sandbox` inside of the sandbox. They are not part of the
 * repository's own install, which they would triple. Other options are vitest's.
 */
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { installFolder } from "../../house/src/installFolder.ts"

const folder = import.meta.dirname

/** The files of tests, by the names that Reprise has for the agents. */
const files: Readonly<Record<string, string>> = {
  "claude-agent-acp": "claudeAgentAcp",
  codex: "codex",
  gemini: "gemini",
  qwen: "qwen",
  copilot: "copilot"
}

const say = (text: string) => process.stderr.write(`${text}\n`)

const words = process.argv.slice(2)
const sandbox = words.includes("--sandbox")
const options = words.filter((word) => word.startsWith("--") && word !== "--sandbox")

const names = words.filter((word) => !word.startsWith("--"))
const unknown = names.filter((name) => files[name] === undefined)
if (unknown.length > 0) {
  say(`There is no tested agent ${unknown.join(", ")}. There are: ${Object.keys(files).join(", ")}.`)
  process.exit(2)
}

// Also where the lock file has changed since: a missing agent fails every test with words about something else.
if (!installFolder("test/agents", "the agents (1.3 GB)")) process.exit(1)

const chosen = names.flatMap((name) => files[name] ?? []).map((file) => `/agents/${file}.agents.test.ts`)
const { status } = spawnSync("npx", ["vitest", "run", "--project", "agents", ...options, ...chosen], {
  cwd: join(folder, "../.."),
  stdio: "inherit",
  env: { ...process.env, REPRISE_TEST_AGENTS: folder, ...(sandbox ? { REPRISE_TEST_AGENTS_SANDBOX: "1" } : {}) }
})
process.exit(status ?? 1)

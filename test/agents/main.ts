/**
 * `npm run test:agents [-- [--sandbox] NAME …]`: installs agents over the Agent Client Protocol beside this file, if they are
 * not there, and runs the contract of the port on them, with `--sandbox` inside of the sandbox. They are no part of the
 * repository's own install, which they would triple. Other options are vitest's.
 */
import { spawnSync } from "node:child_process"
import { statSync } from "node:fs"
import { join } from "node:path"

const folder = import.meta.dirname
const root = join(folder, "../..")

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

const run = (command: string, args: ReadonlyArray<string>, directory: string): number =>
  spawnSync(command, args, {
    cwd: directory,
    stdio: "inherit",
    env: { ...process.env, REPRISE_TEST_AGENTS: folder, ...(sandbox ? { REPRISE_TEST_AGENTS_SANDBOX: "1" } : {}) }
  }).status ?? 1

const names = words.filter((word) => !word.startsWith("--"))
const unknown = names.filter((name) => files[name] === undefined)
if (unknown.length > 0) {
  say(`There is no tested agent ${unknown.join(", ")}. There are: ${Object.keys(files).join(", ")}.`)
  process.exit(2)
}

const changedMs = (path: string) => statSync(join(folder, path), { throwIfNoEntry: false })?.mtimeMs ?? 0

/** Also where the lock file has changed since: a missing agent fails every test with words about something else. */
if (changedMs("node_modules/.package-lock.json") < changedMs("package-lock.json")) {
  say("Installing the agents into test/agents/node_modules: 1.3 GB, under a minute with a fast network.")
  if (run("npm", ["ci", "--no-audit", "--no-fund"], folder) !== 0) {
    say("The agents could not be installed. 'npm ci' in test/agents says more.")
    process.exit(1)
  }
}

const chosen = names.flatMap((name) => files[name] ?? []).map((file) => `/agents/${file}.agents.test.ts`)
process.exit(run("npx", ["vitest", "run", "--project", "agents", ...options, ...chosen], root))

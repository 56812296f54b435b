/**
 * `npm test -- agents [--sandbox] [NAME …]`: installs agents over the Agent Client Protocol beside this file, if they are not there,
 * and runs the contract of the port on them, with `--sandbox` inside of the sandbox. They are not part of the repository's own
 * install, which they would triple.
 */
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

/** vitest's options and variables; undefined: a name is unknown, or the agents could not be installed, which was said. */
export const agentsOf = (words: ReadonlyArray<string>) => {
  const sandbox = words.includes("--sandbox")
  const options = words.filter((word) => word.startsWith("--") && word !== "--sandbox")
  const names = words.filter((word) => !word.startsWith("--"))
  const unknown = names.filter((name) => files[name] === undefined)
  if (unknown.length > 0) {
    say(`There is no tested agent ${unknown.join(", ")}. There are: ${Object.keys(files).join(", ")}.`)
    return undefined
  }
  // Also where the lock file has changed since: a missing agent fails every test with words about something else.
  if (!installFolder("test/agents", "the agents (1.3 GB)")) return undefined
  const chosen = names.flatMap((name) => files[name] ?? []).map((file) => `/agents/${file}.agents.test.ts`)
  return {
    options: ["--project=agents", ...options, ...chosen],
    environment: { REPRISE_TEST_AGENTS: folder, ...(sandbox ? { REPRISE_TEST_AGENTS_SANDBOX: "1" } : {}) }
  }
}

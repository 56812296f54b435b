/** The demo's sample repository: a tiny program with a check, and a plan of two phases. */
import { execFile } from "node:child_process"
import { mkdir, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { promisify } from "node:util"

const run = promisify(execFile)

export const planPath = "PLAN.md"

const plan = `# A greeter

A program that greets, in two phases.

## Phase 1: Greet by name

- [ ] Write \`greet.mjs\`: it prints \`Hello, NAME!\` for its argument
- [ ] Keep \`check.sh\` passing

**Completion gate:** \`sh check.sh\` exits 0.

## Phase 2: Greet in another language

- [ ] Let \`greet.mjs\` take a second argument, a language
`

const check = `#!/bin/sh
# The quality gate: the greeter greets.
[ "$(node greet.mjs Ada)" = "Hello, Ada!" ]
`

const config = `# The demo's agents may do anything inside this throw-away repository.
permissions = "all"

[gates]
quality = ["sh check.sh"]
`

/** Makes the repository with everything committed. */
export const makeSampleRepository = async (root: string): Promise<void> => {
  const files: Record<string, string> = { [planPath]: plan, "check.sh": check, "reprise.toml": config }
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true })
    await writeFile(join(root, name), text)
  }
  const git = (...args: ReadonlyArray<string>) => run("git", [...args], { cwd: root })
  await git("init", "--quiet", "--initial-branch=main")
  await git("config", "user.name", "Reprise demo")
  await git("config", "user.email", "demo@reprise.invalid")
  await git("add", "--all")
  await git("commit", "--quiet", "--message", "Add the plan and its check")
}

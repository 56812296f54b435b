/** The demo's sample repository: a tiny program with a check, and a plan of two phases. */
import { mkdir, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { runGit } from "@reprise/process"
import { Effect } from "effect"

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

const files: Readonly<Record<string, string>> = { [planPath]: plan, "check.sh": check, "reprise.toml": config }

const writeFiles = (root: string) =>
  Effect.tryPromise({
    try: async () => {
      for (const [name, text] of Object.entries(files)) {
        await mkdir(dirname(join(root, name)), { recursive: true })
        await writeFile(join(root, name), text)
      }
    },
    catch: (cause) => (cause instanceof Error ? cause : new Error(String(cause)))
  })

const git = (root: string, ...args: ReadonlyArray<string>) =>
  Effect.flatMap(runGit(root, args), ({ exitCode, stderr }) =>
    exitCode === 0 ? Effect.void : Effect.fail(new Error(stderr.trim()))
  )

/** Makes the repository with everything committed; unsigned, since the demo's author has no key. */
export const makeSampleRepository = Effect.fn("makeSampleRepository")(function* (root: string) {
  yield* writeFiles(root)
  yield* git(root, "init", "--quiet", "--initial-branch=main")
  yield* git(root, "config", "user.name", "Reprise demo")
  yield* git(root, "config", "user.email", "demo@reprise.invalid")
  yield* git(root, "config", "commit.gpgSign", "false")
  yield* git(root, "add", "--all")
  yield* git(root, "commit", "--quiet", "--message", "Add the plan and its check")
})

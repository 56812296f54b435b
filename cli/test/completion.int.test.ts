import { execFileSync } from "node:child_process"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Completions } from "effect/cli"
import { completionScript } from "../src/commands/completion.ts"
import { root } from "../src/commands/root.ts"
import { scratchRepository } from "./support/scratchRepository.ts"

const repository = scratchRepository()
const tree = Completions.fromCommand(root)

/** What bash offers for the last of these words. */
const offeredByBash = (...words: ReadonlyArray<string>): ReadonlyArray<string> => {
  repository.write("completion.bash", completionScript("bash", tree))
  const script = `
    source ./completion.bash
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=\${#COMP_LINE}
    _reprise--first reprise "\${COMP_WORDS[COMP_CWORD]}" "\${COMP_WORDS[COMP_CWORD - 1]}"
    printf '%s\\n' "\${COMPREPLY[@]}"`
  const printed = execFileSync("bash", ["--noprofile", "--norc", "-c", script, "bash", ...words], {
    cwd: repository.project.root,
    encoding: "utf8"
  })
  return printed.split("\n").filter((line) => line !== "")
}

describe("completion in bash", () => {
  it.each([
    [["reprise", "sum"], ["summary"]],
    [["reprise", "run", "PL"], ["PLAN.md"]],
    [["reprise", "run", "do"], ["docs/"]],
    [["reprise", "run", "--json", "--model", "a/b", "PL"], ["PLAN.md"]],
    [["reprise", "validate", "docs/"], ["docs/next.md"]],
    [["reprise", "run", "--no"], ["--no-input"]],
    [["reprise", "run", "--runtime", "o"], ["opencode"]],
    [["reprise", "gate", "a"], ["answer"]],
    [["reprise", "sessions", "export", "r1-s1", "do"], ["docs"]]
  ])("after %j offers %j", (words, offered) => {
    repository.write("PLAN.md", "")
    mkdirSync(join(repository.project.root, "docs"))
    repository.write("docs/next.md", "")
    repository.write("docs/other.txt", "")
    assert.deepStrictEqual(offeredByBash(...words), offered)
  })
})

describe("a completion script", () => {
  it.each(["bash", "zsh", "fish"] as const)("for %s offers no flag that only takes another one back", (shell) => {
    const script = completionScript(shell, tree)
    assert.notMatch(script, /no-no-input|no-json/)
    assert.include(script, "no-input")
  })

  it.each([
    ["zsh", /Path of the plan, a markdown file:_files -g "\*\.md"/],
    ["fish", /-n '__reprise_first validate' .*__reprise_plans/]
  ] as const)("for %s completes the plan as a markdown file", (shell, expected) => {
    assert.match(completionScript(shell, tree), expected)
  })
})

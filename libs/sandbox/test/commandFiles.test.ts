import { assert, describe, it } from "@effect/vitest"
import { bearsCommands, commandFiles } from "../src/commandFiles.ts"

describe("a file of a repository", () => {
  it.each(commandFiles)("bears commands, at any depth and in any case of letters: %s", (path) => {
    for (const named of [path, `${path}/deep/x`, `packages/a/${path}`, path.toUpperCase()]) {
      assert.isTrue(bearsCommands(named), named)
    }
  })

  it.each([
    ...["AGENTS.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", ".github/copilot-instructions.md"],
    ...["package.json", "Makefile", ".envrc", ".github/workflows/ci.yml", ".github/f", ".vscode/launch.json"],
    ...["src/opencode.json.ts", "my.claude", "hooks/a", ".vscode", "docs/reprise.toml.md", ""]
  ])("bears none if it is text for a model, or if a person runs it: %s", (path) => {
    assert.isFalse(bearsCommands(path))
  })
})

import { assert, describe, it } from "@effect/vitest"
import { bearsCommands, commandFiles } from "../src/policy/commandFiles.ts"

describe("a file of a repository", () => {
  it.each(commandFiles)("bears commands, at any depth and in any case of letters: %s", (path) => {
    for (const named of [path, `${path}/deep/x`, `packages/a/${path}`, path.toUpperCase()]) {
      assert.isTrue(bearsCommands(named), named)
    }
  })

  it.each([
    ...["tui.json", "tui.jsonc", ".opencode/tui.json", "mise.toml", ".mise.local.toml", ".mise/config.toml"],
    ...["mise/config.toml", ".config/mise.toml", ".config/mise/conf.d/x.toml", ".miserc.toml", ".tool-versions"],
    ...[".prototools", "rust-toolchain", "rust-toolchain.toml", ".hg/hgrc", ".hg/requires", ".jj/repo/config.toml"],
    "_opam/.opam-switch/environment",
    ...[".exrc", ".vimrc", ".gvimrc", ".vim/coc-settings.json", ".lazygit.yml", ".lite_project.lua"],
    ".vscode/c_cpp_properties.json"
  ])("bears commands if a prompt, an editor or an agent's terminal obeys it when the folder is entered: %s", (path) => {
    assert.isTrue(bearsCommands(path))
  })

  // Looked at as they change (versionFiles.ts), obeyed by content, after a question, or when a person starts the interpreter that reads it (docs/design/workspace.md#sandbox).
  it.each([
    ...[".env", ".nvmrc", ".python-version", ".nvim.lua", ".dir-locals.el", ".Rprofile", "mise/src/main.rs"],
    ...[".config/other.toml", "tui.json.ts", "docs/tool-versions.md"]
  ])("bears none if no program obeys it without a person's act: %s", (path) => {
    assert.isFalse(bearsCommands(path))
  })

  it.each([
    ...["AGENTS.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", ".github/copilot-instructions.md"],
    ...["package.json", "Makefile", ".envrc", ".github/workflows/ci.yml", ".github/f", ".vscode/launch.json"],
    ...["src/opencode.json.ts", "my.claude", "hooks/a", ".vscode", "docs/reprise.toml.md", ""]
  ])("bears none if it is text for a model, or if a person runs it: %s", (path) => {
    assert.isFalse(bearsCommands(path))
  })
})

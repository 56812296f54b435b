/**
 * The files of a repository that bear commands: in them programs that run outside of the sandbox find what to start (servers,
 * hooks, plugins, tasks, tools) or what to allow, and obey it without a person's act. Text for a model, such as `AGENTS.md`,
 * and what a person runs, such as `package.json`, is none. One list for the sandbox, for trust and for what agents'
 * file tools may change without a question (docs/security.md#the-sandbox). Pure.
 */
import type { BuiltInRuntime } from "@reprise/protocol"

/**
 * `agents`: one or more that speak the Agent Client Protocol, or that a person starts. `npm`: by which OpenCode installs packages
 * for `.opencode`, and by which servers and agents are started (`npx`). `prompts`: what a shell calls to show its prompt or when
 * its folder changes.
 */
export type ReadBy = BuiltInRuntime | "agents" | "editors" | "npm" | "prompts" | "reprise"

/** Files and folders by what reads them, relative to the top of a working tree, with `/`. */
const lists: Readonly<Record<ReadBy, ReadonlyArray<string>>> = {
  reprise: ["reprise.toml", "reprise.local.toml"],
  // Its terminal interface loads the plugins of `tui.json`.
  opencode: ["opencode.json", "opencode.jsonc", ".opencode", "tui.json", "tui.jsonc"],
  claude: [".claude", ".mcp.json"],
  // Registries, whose code is imported; options for Node.
  npm: [".npmrc"],
  agents: [
    // Those that Reprise names (docs/agents.md), as their packages say.
    ...[".codex", ".agents", ".gemini", ".qwen", ".lsp.json", ".vscode/mcp.json"],
    ...["agents", "copilot", "extensions", "hooks", "lsp.json", "mcp.json"].map((name) => `.github/${name}`),
    // Others, as their documentation says.
    ...[".aider.conf.yml", ".amazonq", ".amp", ".augment", ".clinerules", ".codebuddy", ".continue", ".copilot"],
    ...[".crush", ".crush.json", "crush.json", ".cursor", ".factory", ".goose", ".junie", ".kilocode", ".kimi"],
    ...[".kiro", ".openhands", ".pi", ".qoder", ".roo", ".rovodev", ".trae", ".vibe", ".windsurf"]
  ],
  editors: [
    // They watch these files: tasks that run when a folder opens or a file is saved, and programs of tools and languages.
    ...["c_cpp_properties", "settings", "tasks"].map((name) => `.vscode/${name}.json`),
    ...[".idea", ".zed", ".helix", ".lite_project.lua"],
    // Vim, where it starts in their folder: the plugin coc starts servers, the others run where the user has set `exrc`.
    ...[".vim/coc-settings.json", ".exrc", ".vimrc", ".gvimrc"],
    // lazygit, in the top folder and above: pagers, and a command whose output it shows first.
    ".lazygit.yml"
  ],
  prompts: [
    // mise trusts a path, whatever the file says later; a `.tool-versions` always, which may name a tool in the tree. A folder
    // `mise` as a whole may be source.
    ...["mise.toml", "mise.local.toml", ".mise.toml", ".mise.local.toml", ".mise", ".miserc.toml", ".tool-versions"],
    ...["config.toml", "config.local.toml", "conf.d"].map((name) => `mise/${name}`),
    ...["mise.toml", "mise.local.toml", "mise", "miserc.toml"].map((name) => `.config/${name}`),
    // proto: plugins and variables. rustup: the folder of a toolchain, whose compiler a prompt asks for its version.
    ...[".prototools", "rust-toolchain", "rust-toolchain.toml"],
    // Extensions, and programs of a configuration. opam: variables of the shell.
    ...[".hg", ".jj", "_opam"]
  ]
}

export const commandFilesOf = (...readers: ReadonlyArray<ReadBy>): ReadonlyArray<string> =>
  readers.flatMap((reader) => lists[reader])

/**
 * Those that a reader obeys in the folders of files that it looks at, too: Claude finds skills there, which may name hooks.
 * OpenCode, Codex, Gemini and Qwen read from the session's folder upward, and a session begins at the top.
 */
export const nestedCommandFilesOf = (reader: ReadBy): ReadonlyArray<string> => (reader === "claude" ? [".claude"] : [])

export const commandFiles = commandFilesOf("reprise", "opencode", "claude", "npm", "agents", "editors", "prompts")

const sequences = commandFiles.map((path) => path.split("/"))

/**
 * Whether a path is one of them or lies in one, at any depth: a folder of the working tree may be the top of what somebody
 * opens. In any case of letters: some file systems find `.Claude` under `.claude`.
 */
export const bearsCommands = (path: string): boolean => {
  const names = path.toLowerCase().split("/")
  return names.some((_, at) => sequences.some((parts) => parts.every((part, n) => part === names[at + n])))
}

/**
 * What an agent needs that runs inside the sandbox as a whole: where it keeps its state and its login, what it reaches, and
 * which of its files say what it runs when a person starts it outside. By the program's name. Pure.
 */
import { join } from "node:path"
import type { OwnPlaces } from "@reprise/sandbox"
import { agentOfCommand } from "../namedAgents.ts"

type Environment = Readonly<Record<string, string | undefined>>

/** What the settings allow an agent beside its known needs. */
export interface AgentAllowance {
  /** Folders, absolute or from `~/`. */
  readonly write: ReadonlyArray<string>
  /** Names, with a port for those of this machine. */
  readonly network: ReadonlyArray<string>
  /** Names of variables. */
  readonly environment: ReadonlyArray<string>
}

export const nothingAllowed: AgentAllowance = { write: [], network: [], environment: [] }

export interface SandboxNeeds {
  readonly own: OwnPlaces
  /** Patterns of a shell. */
  readonly variables: ReadonlyArray<string>
}

interface Folder {
  /** The variable that names it; the first that is set counts. */
  readonly from: ReadonlyArray<{ readonly variable: string; readonly below?: string }>
  /** Below the home folder. */
  readonly or: string
  /** What is run or obeyed, also later and outside: as in `OwnPlaces`, relative to the folder. */
  readonly kept?: ReadonlyArray<string>
  /** Likewise, but the agent has to write it itself. */
  readonly apart?: ReadonlyArray<string>
}

interface Known {
  readonly folders: ReadonlyArray<Folder>
  /** Below the home folder. */
  readonly read?: ReadonlyArray<string>
  readonly network: ReadonlyArray<string>
  readonly variables: ReadonlyArray<string>
  /** Variables that name its model's server. */
  readonly servers: ReadonlyArray<string>
}

const ofXdg = (variable: string, or: string, name: string, obeyed: Pick<Folder, "apart" | "kept"> = {}): Folder => ({
  from: [{ variable, below: name }],
  or: `${or}/${name}`,
  ...obeyed
})

const vendors = [
  ...["api.anthropic.com", "api.openai.com", "chatgpt.com", "auth.openai.com"],
  ...["generativelanguage.googleapis.com", "openrouter.ai", "api.githubcopilot.com", "api.github.com"]
]

const known: Readonly<Record<string, Known>> = {
  "opencode-acp": {
    folders: [
      // Git directories, whose configuration git obeys.
      ofXdg("XDG_DATA_HOME", ".local/share", "opencode", { kept: ["bin"], apart: ["snapshot"] }),
      ofXdg("XDG_STATE_HOME", ".local/state", "opencode"),
      // Programs that it fetches, and packages of plugins: Reprise's own OpenCode runs them outside.
      ofXdg("XDG_CACHE_HOME", ".cache", "opencode", { kept: ["bin", "node_modules", "packages", "skills"] }),
      ofXdg("XDG_CONFIG_HOME", ".config", "opencode", {
        kept: [
          ...["opencode.json", "opencode.jsonc", "config.json", "config", "tui.json", "AGENTS.md"],
          ...["agent", "agents", "command", "commands", "mode", "modes", "plugin", "plugins", "skill", "skills"],
          ...["tool", "tools", "node_modules", "package.json", "tui.jsonc", "themes"]
        ]
      })
    ],
    network: ["models.dev", "opencode.ai", ...vendors],
    variables: ["OPENCODE_*", "ANTHROPIC_*", "OPENAI_*", "*_API_KEY"],
    servers: []
  },
  "claude-agent-acp": {
    folders: [
      {
        from: [{ variable: "CLAUDE_CONFIG_DIR" }],
        or: ".claude",
        kept: [
          ...[
            "settings.json",
            "settings.local.json",
            "remote-settings.json",
            "CLAUDE.md",
            "keybindings.json",
            "loop.md"
          ],
          ...[
            "agents",
            "commands",
            "hooks",
            "output-styles",
            "plugins",
            "cowork_plugins",
            "rules",
            "skills",
            "workflows"
          ],
          ...["local", "chrome", "statusline.sh", "statusline-command.sh"],
          // Of agents and tasks that it starts in the background.
          ...["daemon", "daemon.json", "jobs", "seed-admin", "launch.json", "routines", "scheduled_tasks.json"]
        ],
        // Its shell reads them before each command.
        apart: ["shell-snapshots", "session-env"]
      }
    ],
    // Beside its folder; it names servers that Claude starts, so it is not written.
    read: [".claude.json"],
    network: ["api.anthropic.com", "claude.ai", "console.anthropic.com", "platform.claude.com"],
    variables: ["ANTHROPIC_*", "CLAUDE_*"],
    servers: ["ANTHROPIC_BASE_URL"]
  },
  codex: {
    folders: [
      {
        from: [{ variable: "CODEX_HOME" }],
        or: ".codex",
        kept: [
          ...["config.toml", "*.config.toml", "environments.toml", "managed_config.toml", ".env", "hooks.json"],
          ...["AGENTS.md", "AGENTS.override.md", "agents", "automations", "packages", "plugins", "prompts", "rules"],
          ...["skills", "worktrees"]
        ],
        // What its shell reads; programs on its `PATH`; clones of plugins.
        apart: ["shell_snapshots", "tmp", ".tmp"]
      }
    ],
    network: ["api.openai.com", "auth.openai.com", "chatgpt.com"],
    variables: ["CODEX_*", "OPENAI_*"],
    servers: ["OPENAI_BASE_URL"]
  },
  copilot: {
    folders: [
      {
        from: [{ variable: "COPILOT_HOME" }],
        or: ".copilot",
        kept: [
          ...["config.json", "settings.json", "mcp-config.json", "lsp-config.json", "permissions-config.json"],
          ...["copilot-instructions.md", "instructions", "agents", "extensions", "hooks", "skills"],
          ...["installed-plugins", "plugin-data", "pkg"]
        ]
      },
      ofXdg("XDG_CACHE_HOME", ".cache", "copilot", { kept: ["pkg"] })
    ],
    network: ["*.githubcopilot.com", "api.github.com", "github.com"],
    variables: ["COPILOT_*", "GH_TOKEN", "GITHUB_TOKEN"],
    servers: ["COPILOT_PROVIDER_BASE_URL"]
  },
  gemini: {
    folders: [
      {
        from: [],
        or: ".gemini",
        kept: [
          ...[
            "settings.json",
            "trustedFolders.json",
            "trusted_hooks.json",
            "policy_integrity.json",
            "GEMINI.md",
            ".env"
          ],
          ...["acknowledgments", "agents", "commands", "extensions", "extension_integrity.json", "hooks", "policies"],
          ...["skills", "bin", "tmp/bin", "cli-browser-profile"]
        ],
        // Git directories, whose configuration git obeys.
        apart: ["history"]
      }
    ],
    network: ["*.googleapis.com", "accounts.google.com"],
    variables: ["GEMINI_*", "GOOGLE_*"],
    servers: ["GOOGLE_GEMINI_BASE_URL"]
  },
  qwen: {
    folders: [
      {
        from: [{ variable: "QWEN_HOME" }],
        or: ".qwen",
        kept: [
          ...["settings.json", "trustedFolders.json", "QWEN.md", "system.md", "loop.md", ".env"],
          ...["agents", "channels", "commands", "extensions", "extension-store", "hooks", "locales", "output-styles"],
          ...["rules", "skills", "statusline-command.sh", "workflows", "bin", "tmp/bin", "updates", "worktrees"]
        ],
        // Working trees, whose git directories git obeys.
        apart: ["arena", "history"]
      }
    ],
    network: ["dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com", "chat.qwen.ai", "portal.qwen.ai"],
    variables: ["DASHSCOPE_*", "OPENAI_*", "QWEN_*"],
    servers: ["OPENAI_BASE_URL"]
  }
}

const set = (value: string | undefined): value is string => value !== undefined && value !== ""

const placeOf = ({ from, or }: Folder, home: string, environment: Environment): string => {
  for (const { below, variable } of from) {
    const value = environment[variable]
    if (set(value)) return below === undefined ? value : join(value, below)
  }
  return join(home, or)
}

/** `host:port` of an address; undefined for a text that is none. */
const serverOf = (address: string): string | undefined => {
  if (!URL.canParse(address)) return undefined
  const { hostname, port, protocol } = new URL(address)
  return `${hostname}:${port === "" ? (protocol === "http:" ? 80 : 443) : port}`
}

const fromHome = (path: string, home: string): string =>
  path === "~" || path.startsWith("~/") ? join(home, path.slice(1)) : path

/** Nothing of an agent that Reprise does not know, but what the settings allow it. */
export const sandboxNeeds = (
  command: string,
  environment: Environment,
  home: string,
  allowed: AgentAllowance = nothingAllowed
): SandboxNeeds => {
  const agent = known[agentOfCommand(command)?.name ?? ""]
  const folders = (agent?.folders ?? []).map((folder) => ({ path: placeOf(folder, home, environment), ...folder }))
  const servers = (agent?.servers ?? []).flatMap((name) => {
    const value = environment[name]
    const server = set(value) ? serverOf(value) : undefined
    return server === undefined ? [] : [server]
  })
  return {
    own: {
      write: [...folders.map(({ path }) => path), ...allowed.write.map((path) => fromHome(path, home))],
      read: (agent?.read ?? []).map((path) => join(home, path)),
      kept: folders.flatMap(({ kept = [], path }) => kept.map((name) => join(path, name))),
      apart: folders.flatMap(({ apart = [], path }) => apart.map((name) => join(path, name))),
      network: [...new Set([...(agent?.network ?? []), ...servers, ...allowed.network])]
    },
    variables: [...(agent?.variables ?? []), ...allowed.environment]
  }
}

/** Whether it is known what the agent needs inside. */
export const knowsNeeds = (command: string): boolean => known[agentOfCommand(command)?.name ?? ""] !== undefined

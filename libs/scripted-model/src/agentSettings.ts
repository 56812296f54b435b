/** Environment variables that point agent runtimes to a scripted model and keep them apart from the user's own state. */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

export interface OpenCodeChoices {
  /** Whether OpenCode records the files after each step, as it does by default. This doubles the cost of a turn. */
  readonly snapshots?: boolean
}

const abilities = {
  tool_call: true,
  limit: { context: 128_000, output: 8_000 },
  variants: { low: { reasoningEffort: "low" }, high: { reasoningEffort: "high" } }
}

/** OpenCode's configuration: its only provider is the scripted model. `baseURL` is the model's `openaiUrl`. */
export const openCodeConfig = (baseURL: string, choices: OpenCodeChoices = {}) => ({
  model: "scripted/scripted",
  small_model: "scripted/scripted",
  autoupdate: false,
  share: "disabled",
  snapshot: choices.snapshots === true,
  provider: {
    scripted: {
      npm: "@ai-sdk/openai-compatible",
      name: "Scripted model",
      options: { baseURL, apiKey: "none" },
      models: { scripted: { name: "Scripted model", ...abilities }, second: { name: "Another one", ...abilities } }
    }
  }
})

/**
 * For every new configuration folder OpenCode installs its plugin package from the network. A lock file that names
 * the package keeps it from doing so.
 */
const lockWithPluginPackage = { packages: { "": { dependencies: { "@opencode-ai/plugin": "*" } } } }

/** Keeps OpenCode's state in `folder`, and keeps OpenCode off the network. Writes the files that it reads there. */
export const openCodeFolders = (folder: string): Record<string, string> => {
  const configHome = join(folder, "config")
  mkdirSync(join(configHome, "opencode", "node_modules"), { recursive: true })
  writeFileSync(join(configHome, "opencode", "package-lock.json"), JSON.stringify(lockWithPluginPackage))
  const catalogue = join(folder, "models.json")
  writeFileSync(catalogue, "{}")
  return {
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    // OpenCode's own catalogue names thousands of models, which makes its start slow.
    OPENCODE_MODELS_PATH: catalogue,
    // Tests end before the last tier of Bun's compiler would pay off.
    BUN_JSC_useFTLJIT: "0",
    XDG_DATA_HOME: join(folder, "data"),
    XDG_CONFIG_HOME: configHome,
    XDG_CACHE_HOME: join(folder, "cache"),
    XDG_STATE_HOME: join(folder, "state")
  }
}

/**
 * The environment of an OpenCode server that uses a scripted model.
 * @param folder where OpenCode keeps its state
 * @param url the model's `openaiUrl`
 */
export const openCodeSettings = (
  folder: string,
  url: string,
  choices: OpenCodeChoices = {}
): Record<string, string> => ({
  OPENCODE_CONFIG_CONTENT: JSON.stringify(openCodeConfig(url, choices)),
  ...openCodeFolders(folder)
})

/**
 * The environment of a Claude that uses a scripted model.
 * @param folder where Claude keeps its state
 * @param url the model's `url`
 */
export const claudeSettings = (folder: string, url: string): Record<string, string> => ({
  ANTHROPIC_API_KEY: "none",
  ANTHROPIC_BASE_URL: url,
  ANTHROPIC_MODEL: "scripted",
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  CLAUDE_CONFIG_DIR: join(folder, "claude"),
  IS_SANDBOX: "1",
  ...(process.env["REPRISE_CLAUDE"] === undefined ? {} : { REPRISE_CLAUDE: process.env["REPRISE_CLAUDE"] })
})

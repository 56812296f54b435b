/** The environments in which agent runtimes talk to a scripted model, and share nothing with the user's own. */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

export interface OpenCodeChoices {
  /** OpenCode's own record of the files after each step, as its users have it: it doubles the cost of a turn. */
  readonly snapshots?: boolean
}

const openCodeConfig = (baseURL: string, choices: OpenCodeChoices) => ({
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
      models: {
        scripted: { name: "Scripted model", tool_call: true, limit: { context: 128_000, output: 8_000 } }
      }
    }
  }
})

/**
 * OpenCode installs the package that plugins are written with from the network, for every new configuration folder.
 * There are none here: what says that it is installed is enough.
 */
const withoutPlugins = { packages: { "": { dependencies: { "@opencode-ai/plugin": "*" } } } }

/** What an OpenCode that keeps its state in `folder` is told, except its configuration; what it reads is written there. */
export const openCodePlaces = (folder: string): Record<string, string> => {
  const configHome = join(folder, "config")
  mkdirSync(join(configHome, "opencode", "node_modules"), { recursive: true })
  writeFileSync(join(configHome, "opencode", "package-lock.json"), JSON.stringify(withoutPlugins))
  const catalogue = join(folder, "models.json")
  writeFileSync(catalogue, "{}")
  return {
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    // The catalogue that comes with it names thousands of models of others.
    OPENCODE_MODELS_PATH: catalogue,
    // It never runs for as long as the last tier of its compiler needs to pay.
    BUN_JSC_useFTLJIT: "0",
    XDG_DATA_HOME: join(folder, "data"),
    XDG_CONFIG_HOME: configHome,
    XDG_CACHE_HOME: join(folder, "cache"),
    XDG_STATE_HOME: join(folder, "state")
  }
}

/** For OpenCode. `folder` is where it keeps its state; `url` the model's `openaiUrl`. */
export const openCodeSettings = (
  folder: string,
  url: string,
  choices: OpenCodeChoices = {}
): Record<string, string> => ({
  OPENCODE_CONFIG_CONTENT: JSON.stringify(openCodeConfig(url, choices)),
  ...openCodePlaces(folder)
})

/** For Claude, as in a sandbox. `folder` is where it keeps its state; `url` the model's `url`. */
export const claudeSettings = (folder: string, url: string): Record<string, string> => ({
  ANTHROPIC_API_KEY: "none",
  ANTHROPIC_BASE_URL: url,
  ANTHROPIC_MODEL: "scripted",
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  CLAUDE_CONFIG_DIR: join(folder, "claude"),
  IS_SANDBOX: "1"
})

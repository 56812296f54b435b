/** The environments in which agent runtimes talk to a scripted model, and share nothing with the user's own. */
import { join } from "node:path"

const openCodeConfig = (baseURL: string) => ({
  model: "scripted/scripted",
  small_model: "scripted/scripted",
  autoupdate: false,
  share: "disabled",
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

/** For OpenCode. `folder` is where it keeps its state; `url` the model's `openaiUrl`. */
export const openCodeSettings = (folder: string, url: string): Record<string, string> => ({
  OPENCODE_CONFIG_CONTENT: JSON.stringify(openCodeConfig(url)),
  OPENCODE_DISABLE_AUTOUPDATE: "1",
  OPENCODE_DISABLE_MODELS_FETCH: "1",
  XDG_DATA_HOME: join(folder, "data"),
  XDG_CONFIG_HOME: join(folder, "config"),
  XDG_CACHE_HOME: join(folder, "cache"),
  XDG_STATE_HOME: join(folder, "state")
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

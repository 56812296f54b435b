/**
 * How agents over the Agent Client Protocol run on a scripted model, without a network and apart from the user's own state:
 * the one table of their environments and settings files, by the names that Reprise has for them.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { claudeSettings } from "./agentSettings.ts"

/** The two base URLs of a scripted model. */
interface ModelUrls {
  readonly url: string
  readonly openaiUrl: string
}

type Settings = (home: string, model: ModelUrls) => Record<string, string>

const write = (home: string, folder: string, name: string, text: string): void => {
  mkdirSync(join(home, folder), { recursive: true })
  writeFileSync(join(home, folder, name), text)
}

const codexConfig = (baseUrl: string) => `model = "scripted"
model_provider = "scripted"
check_for_update_on_startup = false
[model_providers.scripted]
name = "Scripted model"
base_url = "${baseUrl}"
wire_api = "responses"
env_key = "CODEX_API_KEY"
requires_openai_auth = false
[analytics]
enabled = false
`

const codex: Settings = (home, { openaiUrl }) => {
  write(home, ".codex", "config.toml", codexConfig(openaiUrl))
  return {
    CODEX_API_KEY: "none",
    NO_BROWSER: "1",
    // Its sandbox needs rights that a container often lacks.
    INITIAL_AGENT_MODE: "agent-full-access"
  }
}

const qwenConfig = {
  general: { enableAutoUpdate: false, disableAutoUpdate: true },
  privacy: { usageStatisticsEnabled: false },
  security: { auth: { selectedType: "openai" }, folderTrust: { enabled: false } },
  model: { name: "scripted" },
  // Else its model decides what a human is asked about.
  tools: { approvalMode: "default" }
}

const qwen: Settings = (home, { openaiUrl }) => {
  write(home, ".qwen", "settings.json", JSON.stringify(qwenConfig))
  return {
    OPENAI_API_KEY: "none",
    OPENAI_BASE_URL: openaiUrl,
    OPENAI_MODEL: "scripted",
    QWEN_TELEMETRY_ENABLED: "false"
  }
}

const geminiConfig = {
  general: { enableAutoUpdate: false, disableUpdateNag: true },
  privacy: { usageStatisticsEnabled: false },
  security: { folderTrust: { enabled: false } },
  // Else a call of its own decides which model answers.
  model: { name: "gemini-2.5-flash" }
}

const gemini: Settings = (home, { url }) => {
  write(home, ".gemini", "settings.json", JSON.stringify(geminiConfig))
  return { GEMINI_API_KEY: "none", GOOGLE_GEMINI_BASE_URL: url, GEMINI_TELEMETRY_ENABLED: "false" }
}

const copilot: Settings = (_, { openaiUrl }) => ({
  COPILOT_OFFLINE: "true",
  COPILOT_AUTO_UPDATE: "false",
  COPILOT_PROVIDER_TYPE: "openai",
  COPILOT_PROVIDER_BASE_URL: openaiUrl,
  COPILOT_PROVIDER_API_KEY: "none",
  COPILOT_MODEL: "scripted"
})

const settings: Readonly<Record<string, Settings>> = {
  "claude-agent-acp": (home, { url }) => ({
    ...claudeSettings(home, url),
    DISABLE_AUTOUPDATER: "1",
    // It would try a key that is refused ten times, for minutes.
    CLAUDE_CODE_MAX_RETRIES: "1"
  }),
  codex,
  gemini,
  qwen,
  copilot
}

/**
 * The environment of an agent, for which the files that it reads are written.
 * @param name as Reprise has it: `claude-agent-acp`, `codex`, `gemini`, `qwen` or `copilot`
 * @param home a folder that takes the place of the user's own
 */
export const acpAgentSettings = (name: string, home: string, model: ModelUrls): Record<string, string> => {
  mkdirSync(home, { recursive: true })
  return { HOME: home, ...settings[name]?.(home, model) }
}

/** Agents that speak the Agent Client Protocol and that Reprise knows by name. Pure. */
import { acpPrefix, parseCommand } from "./process/command.ts"

export interface NamedAgent {
  readonly name: string
  /** How it is started. */
  readonly command: string
  /** The npm packages that it comes in, with the versions that were looked at. */
  readonly packages: ReadonlyArray<string>
  /** How it gets its login or key. */
  readonly login: string
  /** The contract of the port runs on it, by `npm test` or `npm test -- agents`. */
  readonly state: "proven"
}

export const namedAgents: ReadonlyArray<NamedAgent> = [
  {
    name: "opencode-acp",
    command: "opencode acp",
    packages: ["opencode-ai@1.18.33"],
    login: "opencode auth login, or the key of a provider",
    state: "proven"
  },
  {
    name: "claude-agent-acp",
    command: "claude-agent-acp",
    packages: ["@agentclientprotocol/claude-agent-acp@0.100.0"],
    login: "claude, or ANTHROPIC_API_KEY",
    state: "proven"
  },
  {
    name: "codex",
    command: "codex-acp",
    packages: ["@agentclientprotocol/codex-acp@2.6.0", "@openai/codex@0.166"],
    login: "codex login, or CODEX_API_KEY",
    state: "proven"
  },
  {
    name: "copilot",
    command: "copilot --acp",
    packages: ["@github/copilot@1.0.102"],
    login: "copilot, then /login",
    state: "proven"
  },
  {
    name: "gemini",
    command: "gemini --acp",
    packages: ["@google/gemini-cli@0.61.0"],
    login: "gemini, or GEMINI_API_KEY",
    state: "proven"
  },
  {
    name: "qwen",
    command: "qwen --acp",
    packages: ["@qwen-code/qwen-code@0.24.4"],
    login: "qwen, or OPENAI_API_KEY with security.auth.selectedType in ~/.qwen/settings.json",
    state: "proven"
  }
]

export const namedAgent = (name: string): NamedAgent | undefined => namedAgents.find((one) => one.name === name)

/** The agent that a command starts, wherever its program lies. */
export const agentOfCommand = (command: string): NamedAgent | undefined => {
  const { args, program } = parseCommand(command)
  const name = program.split("/").at(-1) ?? ""
  const short = [name.replace(/\.exe$/, ""), ...args].join(" ")
  return namedAgents.find((one) => one.command === short)
}

/** The runtime that a name stands for, `acp:` and its command; undefined for any other text. */
export const runtimeNamed = (name: string): `acp:${string}` | undefined => {
  const agent = namedAgent(name)
  return agent === undefined ? undefined : `${acpPrefix}${agent.command}`
}

export const installHint = ({ packages }: NamedAgent): string => `npm install -g ${packages.join(" ")}`

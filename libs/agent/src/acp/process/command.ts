/** The command of an agent, as the setting `runtime` has it. Pure. */
import { isAbsolute } from "node:path"
import type { HeldBack } from "../../rules/PermissionRules.ts"

export interface AgentCommand {
  /** A name that is looked up on the PATH, or an absolute path. */
  readonly program: string
  readonly args: ReadonlyArray<string>
}

export const acpPrefix = "acp:"

/** What is wrong with a command; undefined: nothing. A path that depends on the current directory means different programs. */
export const commandProblem = (command: string): string | undefined => {
  const [program = ""] = command.trim().split(/\s+/)
  if (program === "") return "Expected a command after acp:, such as acp:opencode acp"
  if (/["'`$\\|&;<>]/.test(command)) return "Expected words without quotes and signs of a shell, which does not run it"
  if (program.includes("/") && !isAbsolute(program)) return "Expected a program on the PATH or an absolute path"
  return undefined
}

/** The command of a runtime's name; undefined for a runtime that is not a command. */
export const commandOf = (runtime: string): string | undefined =>
  runtime.startsWith(acpPrefix) ? runtime.slice(acpPrefix.length) : undefined

export const parseCommand = (command: string): AgentCommand => {
  const [program = "", ...args] = command.trim().split(/\s+/)
  return { program, args }
}

/** Whether the program is OpenCode, by its name. */
export const isOpenCode = ({ program }: AgentCommand): boolean => /(^|\/)opencode(\.exe)?$/.test(program)

/** Every tool that OpenCode has a word for, so that no setting of a user lets one pass in silence. */
const openCodePermissions = (held: HeldBack) => ({
  "*": "ask",
  bash: "ask",
  edit: "ask",
  webfetch: "ask",
  websearch: "ask",
  external_directory: "ask",
  doom_loop: "ask",
  read: "ask",
  task: "deny",
  glob: "allow",
  list: "allow",
  lsp: "allow",
  todoread: "allow",
  todowrite: "allow",
  skill: "allow",
  // It finds what stands in files, and asks for its expression only.
  grep: held.files ? "deny" : "allow"
})

/** Gemini starts itself again as a child, which would go on when its parent is killed. */
export const oneProcess: Readonly<Record<string, string>> = { GEMINI_CLI_NO_RELAUNCH: "1" }

/**
 * OpenCode asks for nothing unless its environment tells it to: with these variables it asks before it acts, and decisions
 * are Reprise's. They are set for every agent, since OpenCode may be started under another name.
 */
export const askingVariables = (held: HeldBack): Readonly<Record<string, string>> => ({
  OPENCODE_PERMISSION: JSON.stringify(openCodePermissions(held)),
  OPENCODE_DISABLE_AUTOUPDATE: "1"
})

/** Rules in place of questions: what agents may do, must ask for, and may not do (docs/design/sessions.md#auto-resume). */
import { Schema } from "effect"

/** Patterns of one kind of rule; `readPatterns` says which are valid. */
export interface Patterns {
  readonly commands: ReadonlyArray<string>
  /** Relative to the working tree, or absolute, or from `~/`. */
  readonly files: ReadonlyArray<string>
  /** Names of servers, with or without a port. */
  readonly addresses: ReadonlyArray<string>
}

/** What a human allowed for good at the gate: exactly this, no pattern. */
export const RememberedRule = Schema.Struct({
  /** `tool`: one that is not a command, file or address, by its name. `write`: in the sandbox, where commands may write. */
  kind: Schema.Literals(["command", "read", "change", "address", "tool", "write"]),
  /** The whole text of the command; a path as `Place.real` has it; a server's name; a tool's name; a file or folder. */
  what: Schema.String
})
export type RememberedRule = typeof RememberedRule.Type

export interface PermissionRules {
  readonly allow: Patterns
  readonly ask: Patterns
  readonly deny: Patterns
  readonly remembered: ReadonlyArray<RememberedRule>
  /** Folders in which no rule allows anything: what stands there grants permissions. */
  readonly closed: ReadonlyArray<string>
}

const none: Patterns = { commands: [], files: [], addresses: [] }
export const noRules: PermissionRules = { allow: none, ask: none, deny: none, remembered: [], closed: [] }

/** A file or folder that a tool asks for. */
export interface Place {
  /** In the working tree relative to it, with `/`, whichever tree it is; else absolute. */
  readonly name: string
  /** The same with links resolved; undefined: nobody can tell. */
  readonly real: string | undefined
  /** Other programs run it or read permissions from it. */
  readonly guarded: boolean
}

/** What an agent asks for, on every runtime. */
export type ToolRequest =
  | { readonly kind: "command"; readonly command: string }
  | { readonly kind: "read" | "change"; readonly places: ReadonlyArray<Place> }
  | { readonly kind: "address"; readonly url: string }
  | { readonly kind: "tool"; readonly name: string }

/** Whether rules hold something back, by what they are about: a runtime must ask about that in every mode. */
export const heldBack = ({ ask, deny }: PermissionRules) => ({
  commands: ask.commands.length + deny.commands.length > 0,
  files: ask.files.length + deny.files.length > 0,
  addresses: ask.addresses.length + deny.addresses.length > 0
})
export type HeldBack = ReturnType<typeof heldBack>

/** As it is shown before it is written, and in the list. */
export const ruleText = ({ kind, what }: RememberedRule): string => {
  switch (kind) {
    case "command":
      return `run exactly: ${what}`
    case "read":
      return `read ${what}`
    case "change":
      return `change ${what}`
    case "address":
      return `fetch from ${what}`
    case "tool":
      return `use ${what}`
    case "write":
      return `let commands write in ${what}`
  }
}

/**
 * What an agent may do without asking, as OpenCode's rules; the last that matches holds. Two things that they cannot
 * say are done by `approval.ts`: a path is compared as text there, so a symbolic link leads out of the directory, and a
 * subagent's session gets none of its parent's rules (both measured).
 */
import type { PermissionMode } from "@reprise/protocol"

export interface PermissionRule {
  readonly permission: string
  readonly pattern: string
  readonly action: "allow" | "ask" | "deny"
}

const rule = (permission: string, action: PermissionRule["action"], pattern = "*"): PermissionRule => ({
  permission,
  pattern,
  action
})

/**
 * Reading inside the directory, planning and asking are free; all else is asked: edit, bash, webfetch, websearch,
 * external_directory, doom_loop, and the tools of plugins and MCP servers, whatever their names. `glob` and `grep`
 * must not be asked for: while such a request waits, OpenCode cannot list any (measured). Subagents are off, since
 * nothing would hold them.
 */
const asking: ReadonlyArray<PermissionRule> = [
  rule("*", "ask"),
  ...["read", "glob", "grep", "list", "lsp", "todoread", "todowrite", "skill", "question"].map((name) =>
    rule(name, "allow")
  ),
  rule("read", "ask", "*.env"),
  rule("read", "ask", "*.env.*"),
  rule("read", "allow", "*.env.example"),
  rule("task", "deny")
]

/** `workspace` asks OpenCode to ask for edits too: we answer those that stay inside. */
export const permissionRules = (mode: PermissionMode): Array<PermissionRule> =>
  mode === "all" ? [rule("*", "allow")] : [...asking]

/** In a session's metadata: the mode, for whoever takes over after a restart. */
export const modeMetadata = (mode: PermissionMode) => ({ reprise: { permissions: mode } })

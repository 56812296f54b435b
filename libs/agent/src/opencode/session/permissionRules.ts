/**
 * What an agent may do without asking. OpenCode's rules cover most of it; the last match wins. Two
 * things the rules cannot express (both measured), so `isApproved` decides them: they compare paths as text, so a symbolic link could
 * lead out of the directory, and a subagent's session gets none of its parent's rules.
 */
import { isAbsolute, resolve } from "node:path"
import type { PermissionRequest } from "@opencode-ai/sdk/v2/client"
import type { PermissionMode } from "@reprise/protocol"
import { Effect, Option } from "effect"
import { isInside, isReadable, nothingProtected, type ProtectedPaths, placeOf } from "../../isInside.ts"
import type { HeldBack, ToolRequest } from "../../rules/PermissionRules.ts"
import { isSecretFile } from "../../secretFiles.ts"

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
 * Reading inside the directory, planning and questions are allowed. Everything else asks: edit, bash, webfetch,
 * websearch, external_directory, doom_loop, and the tools of plugins and MCP servers, whatever their names. `glob` and
 * `grep` must not ask: while such a request waits, OpenCode cannot list any requests (measured). Subagents are denied,
 * because no rules would apply to them.
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

/**
 * A command that needs no question can make a link that leads out of the directory. So reads ask too, and `isApproved`
 * answers those that stay inside; `grep` follows a link that it is given and must not ask, so it is denied: the agent
 * searches with commands.
 */
const sandboxed: ReadonlyArray<PermissionRule> = [rule("read", "ask"), rule("grep", "deny")]

/**
 * What rules hold back asks in every mode, and `decide` answers. Such files must not be found by `grep`, which asks for
 * its expression and not for files. No rules would apply to subagents.
 */
const heldBackRules = (held: HeldBack): ReadonlyArray<PermissionRule> => [
  ...(held.commands ? [rule("bash", "ask")] : []),
  ...(held.files ? [rule("read", "ask"), rule("edit", "ask"), rule("grep", "deny")] : []),
  ...(held.addresses ? [rule("webfetch", "ask")] : []),
  ...(held.commands || held.files || held.addresses ? [rule("task", "deny")] : [])
]

/** In mode `workspace` edits ask too; `isApproved` answers those that stay inside. */
export const permissionRules = (mode: PermissionMode, isSandboxed: boolean, held: HeldBack): Array<PermissionRule> => [
  ...(mode === "all" ? [rule("*", "allow")] : asking),
  ...(mode !== "all" && isSandboxed ? sandboxed : []),
  ...heldBackRules(held)
]

/** Stores the mode in a session's metadata, where the next process finds it after a restart. */
export const modeMetadata = (mode: PermissionMode) => ({ reprise: { permissions: mode } })

/** The files of an edit. The request names them relative to the repository, and one of them as an absolute path too. */
const pathsOf = (request: PermissionRequest, worktree: string): ReadonlyArray<string> => {
  const { filepath } = request.metadata
  const named = typeof filepath === "string" && isAbsolute(filepath) ? [filepath] : []
  return [...request.patterns.map((pattern) => resolve(worktree, pattern)), ...named]
}

/** A command asks a second time for the folders that it names: the sandbox decides what it may do there. */
const isOfCommand = ({ metadata, permission }: PermissionRequest): boolean =>
  permission === "bash" || (permission === "external_directory" && typeof metadata["command"] === "string")

/** What a request is for, in the words of rules. */
export const toolRequestOf = async (
  request: PermissionRequest,
  { directory, protectedPaths, worktree }: Pick<ApprovalContext, "directory" | "protectedPaths" | "worktree">
): Promise<ToolRequest> => {
  const { metadata, patterns, permission } = request
  const { command, filepath, server, url } = metadata
  if (isOfCommand(request))
    return { kind: "command", command: typeof command === "string" ? command : patterns.join("\n") }
  if (permission === "webfetch") return { kind: "address", url: typeof url === "string" ? url : patterns.join("\n") }
  const places = (paths: ReadonlyArray<string>, kept: ProtectedPaths) =>
    Promise.all(paths.map((path) => placeOf(directory, path, kept)))
  if (permission === "external_directory" && typeof filepath === "string") {
    return { kind: "read", places: await places([filepath], nothingProtected) }
  }
  if (permission === "edit") return { kind: "change", places: await places(pathsOf(request, worktree), protectedPaths) }
  // A resource of an MCP server is not a file.
  if (permission === "read" && server === undefined && patterns.length > 0) {
    return { kind: "read", places: await places(pathsOf(request, worktree), nothingProtected) }
  }
  return { kind: "tool", name: permission }
}

export interface ApprovalContext {
  readonly mode: Option.Option<PermissionMode>
  readonly directory: string
  /** The root that OpenCode's paths are relative to. */
  readonly worktree: string
  /** Whether its commands run in the sandbox now. */
  readonly sandboxed: boolean
  readonly protectedPaths: ProtectedPaths
}

const mayRead = async (request: PermissionRequest, { directory, worktree }: ApprovalContext): Promise<boolean> => {
  const paths = pathsOf(request, worktree)
  if (paths.length === 0 || paths.some(isSecretFile)) return false
  return (await Promise.all(paths.map((path) => isReadable(directory, path)))).every((it) => it)
}

/**
 * Whether the session's mode answers the request. `all` allows everything (only subagents still ask); `workspace`, and the
 * sandbox in every mode, allow edits of files that are inside the directory after links and `..` are resolved; the sandbox
 * also allows commands. Everything else is for a human.
 */
export const isApproved = (request: PermissionRequest, context: ApprovalContext): Effect.Effect<boolean> =>
  Effect.promise(async () => {
    if (Option.isNone(context.mode)) return false
    if (context.mode.value === "all") return true
    if (context.sandboxed && isOfCommand(request)) return true
    if (request.permission === "read") return mayRead(request, context)
    if (request.permission !== "edit") return false
    if (context.mode.value !== "workspace" && !context.sandboxed) return false
    const paths = pathsOf(request, context.worktree)
    const inside = await Promise.all(paths.map((path) => isInside(context.directory, path, context.protectedPaths)))
    return paths.length > 0 && inside.every((it) => it)
  })

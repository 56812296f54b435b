/**
 * Requests that a session's permission mode answers by itself. `all`: everything, which only subagents still ask for.
 * `workspace`: edits of files that are really inside the directory, links and `..` resolved. All else is a human's.
 */
import { lstat, realpath } from "node:fs/promises"
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path"
import type { PermissionRequest } from "@opencode-ai/sdk/v2/client"
import type { PermissionMode } from "@reprise/protocol"
import { Effect, Option } from "effect"

/** Inside a workspace, but what is written there is run by, or gives leave to, others than the agent's tools. */
const guarded = new Set([".git", ".opencode", ".reprise", "opencode.json", "opencode.jsonc", "reprise.toml"])

const isMissing = (error: unknown) => error instanceof Error && "code" in error && error.code === "ENOENT"

const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false
  )

/** Where a path really leads: its nearest ancestor that exists decides. A link to nowhere leads nobody knows where. */
const realPathOf = async (path: string): Promise<string> => {
  try {
    return await realpath(path)
  } catch (error) {
    const parent = dirname(path)
    if (!isMissing(error) || parent === path || (await exists(path))) throw error
    return join(await realPathOf(parent), path.slice(parent.length))
  }
}

/** Whether a write to the path stays in the directory and off what is guarded. */
export const isInside = async (directory: string, path: string): Promise<boolean> => {
  try {
    const inner = relative(await realpath(directory), await realPathOf(resolve(directory, path)))
    if (inner === "" || isAbsolute(inner) || inner.split(sep)[0] === "..") return false
    return !inner.split(sep).some((name) => guarded.has(name.toLowerCase()))
  } catch {
    // A loop of links, a link to nowhere, a directory that may not be read: not known to be inside.
    return false
  }
}

/** The files of an edit: the request names them relative to the repository, and one of them also as it is. */
const pathsOf = (request: PermissionRequest, worktree: string): ReadonlyArray<string> => {
  const { filepath } = request.metadata
  const named = typeof filepath === "string" && isAbsolute(filepath) ? [filepath] : []
  return [...request.patterns.map((pattern) => resolve(worktree, pattern)), ...named]
}

export interface ApprovalContext {
  readonly mode: Option.Option<PermissionMode>
  readonly directory: string
  /** The root that OpenCode's paths are relative to. */
  readonly worktree: string
}

/** Whether the mode gives leave. */
export const isApproved = (request: PermissionRequest, context: ApprovalContext): Effect.Effect<boolean> =>
  Effect.promise(async () => {
    if (Option.isNone(context.mode)) return false
    if (context.mode.value === "all") return true
    if (context.mode.value !== "workspace" || request.permission !== "edit") return false
    const paths = pathsOf(request, context.worktree)
    const inside = await Promise.all(paths.map((path) => isInside(context.directory, path)))
    return paths.length > 0 && inside.every((it) => it)
  })

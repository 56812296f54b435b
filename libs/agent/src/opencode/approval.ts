/**
 * Requests that a session's permission mode answers by itself. `all`: everything, which only subagents still ask for.
 * `workspace`: edits of files that are really inside the directory, links and `..` resolved. All else is a human's.
 */
import { isAbsolute, resolve } from "node:path"
import type { PermissionRequest } from "@opencode-ai/sdk/v2/client"
import type { PermissionMode } from "@reprise/protocol"
import { Effect, Option } from "effect"
import { isInside } from "../isInside.ts"

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

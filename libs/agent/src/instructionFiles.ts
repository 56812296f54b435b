/**
 * What stands where agents look for a repository's instructions and settings when they begin. Where that is a pipe or a device, an
 * agent waits without end, or fails without saying why; so it is looked at before a prompt, and after one that failed.
 */
import { stat } from "node:fs/promises"
import { join } from "node:path"
import { kindOf } from "@reprise/process"
import { Effect } from "effect"
import { AgentError } from "./AgentError.ts"
import type { AgentRuntimeShape } from "./AgentRuntimeShape.ts"

/** In the folder of a session. What lies deeper is read by tools, whose answer tells the agent. */
const names = [
  ...["AGENTS.md", "AGENTS.override.md", "CLAUDE.md", "CLAUDE.local.md", "CONTEXT.md", "GEMINI.md", "QWEN.md"],
  ...["opencode.json", "opencode.jsonc", ".opencode", ".opencode/opencode.json", ".opencode/opencode.jsonc"],
  ...[".claude", ".claude/CLAUDE.md", ".claude/settings.json", ".claude/settings.local.json", ".mcp.json"],
  ...[".codex", ".gemini", ".qwen", ".agents"]
]

/** A sentence with the next step; undefined: an agent can read, or passes over, all that is there. */
export const unreadableInstructions = (directory: string): Effect.Effect<string | undefined> =>
  Effect.promise(async () => {
    for (const path of names.map((name) => join(directory, name))) {
      const found = await stat(path).catch(() => undefined)
      if (found === undefined || found.isFile() || found.isDirectory()) continue
      return `${path} ${kindOf(found)}, and agents look there for instructions or settings. Put a regular file there, or remove it, and continue.`
    }
    return undefined
  })

/** The same runtime, which begins no session and no turn in such a folder, but fails with that sentence. */
export const withReadableInstructions = (runtime: AgentRuntimeShape): AgentRuntimeShape => {
  const check = (operation: string, directory: string) =>
    Effect.flatMap(unreadableInstructions(directory), (detail) =>
      detail === undefined
        ? Effect.void
        : Effect.fail(new AgentError({ kind: "other", operation, detail, sessionUsable: true }))
    )
  return {
    ...runtime,
    create: (it) => Effect.andThen(check("create", it.directory), runtime.create(it)),
    fork: (it) => Effect.andThen(check("fork", it.directory), runtime.fork(it)),
    prompt: (it) =>
      check("prompt", it.directory).pipe(
        Effect.andThen(runtime.prompt(it)),
        // The turn may have begun before it was exchanged.
        Effect.tapError(({ kind }) => (kind === "other" ? check("prompt", it.directory) : Effect.void))
      )
  }
}

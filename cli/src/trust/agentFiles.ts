/**
 * The settings that a repository brings for agents' runtimes. What git tracks of them was written by others: it counts
 * only after this machine trusted exactly this content. Files that git does not track are the user's own.
 */
import { createHash } from "node:crypto"
import { lstatSync } from "node:fs"
import { join } from "node:path"
import { ForeignFileRefused, readForeignFile } from "@reprise/process"
import type { BuiltInRuntime, RuntimeName } from "@reprise/protocol"
import { Effect } from "effect"
import { trackedFiles } from "../project/trackedFiles.ts"
import { visibleLine } from "../terminal/visible.ts"

/** Files and folders in which a runtime finds commands, servers, plugins, hooks and rules. */
const builtIn: Readonly<Record<BuiltInRuntime, ReadonlyArray<string>>> = {
  opencode: ["opencode.json", "opencode.jsonc", ".opencode"],
  claude: [".claude", ".mcp.json"]
}

/** Where the other agents that speak the Agent Client Protocol find theirs, as far as they are known. */
const others = [".codex", ".gemini", ".qwen", ".vscode/mcp.json", ".github/hooks"]

/** A command does not tell which agent it starts. */
const placesFor = (runtime: RuntimeName): ReadonlyArray<string> =>
  runtime === "opencode" || runtime === "claude"
    ? builtIn[runtime]
    : [...builtIn.opencode, ...builtIn.claude, ...others]

export interface AgentFile {
  /** Relative to the working tree. */
  readonly path: string
  readonly sizeBytes: number
  /** Identifies the path and the content. */
  readonly digest: string
  /** Why nobody can trust it; undefined: somebody can. */
  readonly doubt: string | undefined
}

const largestBytes = 1024 * 1024

/** OpenCode adds the address of its schema to a file without one: that changes nothing. */
const withoutSchema = (path: string, bytes: Buffer): Buffer =>
  /(^|\/)opencode\.jsonc?$/i.test(path)
    ? Buffer.from(
        bytes.toString("latin1").replace(/^\s*\{(\n {2}"\$schema": "https:\/\/opencode\.ai\/config\.json",)?/, "{"),
        "latin1"
      )
    : bytes

const digestOf = (path: string, bytes: Buffer): string =>
  createHash("sha256")
    .update(JSON.stringify(["file", path]))
    .update(withoutSchema(path, bytes))
    .digest("hex")

const doubtful = (path: string, doubt: string): AgentFile => ({ path, sizeBytes: 0, digest: "", doubt })

/** Undefined for a file that is tracked, and not there. */
const readFile = (directory: string, path: string) =>
  Effect.promise(async (): Promise<AgentFile | undefined> => {
    try {
      const bytes = await readForeignFile(join(directory, path), { largestBytes, follow: false })
      if (bytes === undefined) return undefined
      return { path, sizeBytes: bytes.length, digest: digestOf(path, bytes), doubt: undefined }
    } catch (error) {
      return doubtful(path, error instanceof ForeignFileRefused ? `it ${error.what}` : String(error))
    }
  })

/** The files of a runtime in a working tree that others may have written, by path. */
export const agentFiles = Effect.fn("agentFiles")(function* (directory: string, runtime: RuntimeName) {
  const places = placesFor(runtime)
  const present = places.filter((place) => lstatSync(join(directory, place), { throwIfNoEntry: false }))
  if (present.length === 0) return []
  const tracked = yield* trackedFiles(directory, places)
  if (tracked === undefined) return present.map((place) => doubtful(place, "git cannot tell whether it tracks it"))
  const found = yield* Effect.forEach(tracked, (path) => readFile(directory, path))
  return found.filter((file) => file !== undefined)
})

/** A line for people. */
export const agentFileLine = ({ digest, doubt, path, sizeBytes }: AgentFile): string =>
  doubt === undefined
    ? `${visibleLine(path)}, settings of agents:\n  ${sizeBytes} bytes, sha256 ${digest.slice(0, 16)}`
    : `${visibleLine(path)}, settings of agents: cannot be trusted, ${visibleLine(doubt)}`

/**
 * The Claude agent SDK. It is an optional package and imported on first use; it brings a program of about 370 MB, in a
 * separate package for each platform.
 */
import { readFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { pathToFileURL } from "node:url"
import type { query } from "@anthropic-ai/claude-agent-sdk"
import { isProgram } from "@reprise/process"
import { Effect, Schema } from "effect"
import { resolveAgent } from "../../agentPackages.ts"

const packageName = "@anthropic-ai/claude-agent-sdk"

export interface ClaudeSdk {
  readonly query: typeof query
  readonly version: string
  /** The `claude` program: the one in REPRISE_CLAUDE, else the one of this platform's package. */
  readonly program: string
}

export interface LocatedClaude {
  readonly version: string
  readonly program: string
}

const decodeManifest = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Struct({ version: Schema.String })))

const notInstalled = (looked: string) => new ClaudeNotInstalled({ looked })

/** The folder of a package that another package depends on; undefined: it is not installed. */
const packageFolder = (manifest: string, name: string): string | undefined => {
  try {
    return dirname(createRequire(manifest).resolve(`${name}/package.json`))
  } catch {
    return undefined
  }
}

const programNextTo = Effect.fnUntraced(function* (manifest: string) {
  const name = `${packageName}-${process.platform}-${process.arch}`
  const file = process.platform === "win32" ? "claude.exe" : "claude"
  for (const candidate of [name, `${name}-musl`]) {
    const folder = packageFolder(manifest, candidate)
    if (folder !== undefined && (yield* isProgram(join(folder, file)))) return join(folder, file)
  }
  return undefined
})

/** Finds the SDK and its program without loading either. */
export const locateClaude = Effect.fn("locateClaude")(function* (
  environment: Readonly<Record<string, string | undefined>> = process.env
): Effect.fn.Return<LocatedClaude, ClaudeNotInstalled> {
  const manifest = yield* Effect.try({
    // The package does not export its manifest, which is next to its entry point.
    try: () => join(dirname(resolveAgent("claude", packageName, environment)), "package.json"),
    catch: () => notInstalled(`no package ${packageName}`)
  })
  const { version } = yield* Effect.tryPromise({
    try: async () => decodeManifest(await readFile(manifest, "utf8")),
    catch: () => notInstalled(`${manifest} cannot be read`)
  })
  const named = environment["REPRISE_CLAUDE"] ?? ""
  if (named !== "") {
    if (yield* isProgram(named)) return { version, program: named }
    return yield* notInstalled(`REPRISE_CLAUDE names ${named}, which is not a program`)
  }
  const program = yield* programNextTo(manifest)
  if (program !== undefined) return { version, program }
  return yield* notInstalled(`its program for ${process.platform}-${process.arch} is missing`)
})

export const loadSdk = Effect.fn("loadSdk")(function* (
  environment?: Readonly<Record<string, string | undefined>>
): Effect.fn.Return<ClaudeSdk, ClaudeNotInstalled> {
  const located = yield* locateClaude(environment)
  const module = yield* Effect.tryPromise({
    try: (): Promise<typeof import("@anthropic-ai/claude-agent-sdk")> =>
      import(pathToFileURL(resolveAgent("claude", packageName, environment ?? process.env)).href),
    catch: (cause) => notInstalled(cause instanceof Error ? cause.message : String(cause))
  })
  return { ...located, query: module.query }
})

export class ClaudeNotInstalled extends Schema.TaggedError<ClaudeNotInstalled>()("ClaudeNotInstalled", {
  /** What is missing, in words. */
  looked: Schema.String
}) {
  override get message() {
    return `The Claude agent SDK is not installed (${this.looked}). Install it with npm i @anthropic-ai/claude-agent-sdk`
  }
}

/** The adapter's own files, or Claude's transcripts, cannot be read or written. */
export class ClaudeStateFault extends Schema.TaggedError<ClaudeStateFault>()("ClaudeStateFault", {
  operation: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    const why = this.cause instanceof Error ? this.cause.message : String(this.cause)
    return `${this.operation} failed: ${why}. Check that the state directory and Claude's own directory are writable.`
  }
}

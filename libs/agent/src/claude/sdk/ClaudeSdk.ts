/**
 * The Claude agent SDK. It is an optional package and imported on first use; it brings a program of about 370 MB, in a
 * separate package for each platform.
 */
import { readFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { pathToFileURL } from "node:url"
import { isProgram } from "@reprise/process"
import { Effect, Schema } from "effect"
import { agentPackages, resolveAgent } from "../../agentPackages.ts"
import type { StartQuery } from "./SdkContract.ts"

const packageName = "@anthropic-ai/claude-agent-sdk"

export interface ClaudeSdk {
  readonly query: StartQuery
  readonly version: string
  /** The `claude` program: the one in REPRISE_CLAUDE, else the one of this platform's package. */
  readonly program: string
}

export interface LocatedClaude {
  readonly version: string
  readonly program: string
  /** The SDK's module. */
  readonly entry: string
}

const decodeManifest = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Struct({ version: Schema.String })))

const notInstalled = (looked: string, wanted = packageName) => new ClaudeNotInstalled({ looked, wanted })

/** The folder of a package that another package depends on; undefined: it is not installed. */
const packageFolder = (manifest: string, name: string): string | undefined => {
  try {
    return dirname(createRequire(manifest).resolve(`${name}/package.json`))
  } catch {
    return undefined
  }
}

const platformPackage = `${packageName}-${process.platform}-${process.arch}`

const programNextTo = Effect.fnUntraced(function* (manifest: string) {
  const file = process.platform === "win32" ? "claude.exe" : "claude"
  for (const candidate of [platformPackage, `${platformPackage}-musl`]) {
    const folder = packageFolder(manifest, candidate)
    if (folder !== undefined && (yield* isProgram(join(folder, file)))) return join(folder, file)
  }
  return undefined
})

/** The SDK at this module, with its program or the one in REPRISE_CLAUDE. */
const locateAt = Effect.fnUntraced(function* (
  entry: string,
  named: string
): Effect.fn.Return<LocatedClaude, ClaudeNotInstalled> {
  // The package does not export its manifest, which is next to its entry point.
  const manifest = join(dirname(entry), "package.json")
  const { version } = yield* Effect.tryPromise({
    try: async () => decodeManifest(await readFile(manifest, "utf8")),
    catch: () => notInstalled(`${manifest} cannot be read`)
  })
  const program = named === "" ? yield* programNextTo(manifest) : named
  if (program !== undefined) return { entry, version, program }
  return yield* notInstalled(`its program for ${process.platform}-${process.arch} is missing`, platformPackage)
})

/** Finds the SDK and its program without loading either. */
export const locateClaude = Effect.fn("locateClaude")(function* (
  environment: Readonly<Record<string, string | undefined>> = process.env
): Effect.fn.Return<LocatedClaude, ClaudeNotInstalled> {
  const named = environment["REPRISE_CLAUDE"] ?? ""
  if (named !== "" && !(yield* isProgram(named)))
    return yield* notInstalled(`REPRISE_CLAUDE names ${named}, which is not a program`)
  const entries = resolveAgent("claude", packageName, environment, named)
  if (entries.length === 0) return yield* notInstalled(`no package ${packageName}`)
  return yield* Effect.firstSuccessOf(entries.map((entry) => locateAt(entry, named)))
})

export const loadSdk = Effect.fn("loadSdk")(function* (
  environment?: Readonly<Record<string, string | undefined>>
): Effect.fn.Return<ClaudeSdk, ClaudeNotInstalled> {
  const located = yield* locateClaude(environment)
  const module = yield* Effect.tryPromise({
    try: (): Promise<{ readonly query: StartQuery }> => import(pathToFileURL(located.entry).href),
    catch: (cause) => notInstalled(cause instanceof Error ? cause.message : String(cause))
  })
  return { ...located, query: module.query }
})

export class ClaudeNotInstalled extends Schema.TaggedError<ClaudeNotInstalled>()("ClaudeNotInstalled", {
  /** What is missing, in words. */
  looked: Schema.String,
  /** The package to install. */
  wanted: Schema.String
}) {
  override get message() {
    const { version } = agentPackages.claude
    return `The Claude agent SDK is not installed (${this.looked}). In the folder of Reprise, 'npm i --no-save ${this.wanted}@${version}' installs it`
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

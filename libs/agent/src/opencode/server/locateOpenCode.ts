/** Finds the `opencode` program. */
import { execFile } from "node:child_process"
import { readFile, stat } from "node:fs/promises"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { findProgram, isProgram } from "@reprise/process"
import { Effect, Option, Schema } from "effect"
import { resolveAgent } from "../../agentPackages.ts"
import { OpenCodeNotFound } from "./OpenCodeUnavailable.ts"

const decodeManifest = Schema.decodeUnknownOption(
  Schema.fromJsonString(Schema.Struct({ bin: Schema.Struct({ opencode: Schema.String }) }))
)

/** Where npm does not run package scripts, the package's own program is a small stub that only reports that. */
const leastProgramBytes = 1024 * 1024

/** The package's program, else the program of the package for this platform that comes with it. */
const programOf = (manifest: string): Effect.Effect<Option.Option<string>> =>
  Effect.promise(async () => {
    try {
      const { bin } = Option.getOrThrow(decodeManifest(await readFile(manifest, "utf8")))
      const program = join(dirname(manifest), bin.opencode)
      if ((await stat(program)).size >= leastProgramBytes) return Option.some(program)
      const machine = `opencode-${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`
      return Option.some(join(dirname(createRequire(manifest).resolve(`${machine}/package.json`)), "bin", "opencode"))
    } catch {
      // The package is not for this platform.
      return Option.none()
    }
  })

/**
 * Finds the program: the one named by REPRISE_OPENCODE, else the one of the npm package (this adapter was measured with
 * its version; beside Reprise, or where `installAgent` put it), else `opencode` on the PATH. Fails with `OpenCodeNotFound`.
 */
export const locateOpenCode = Effect.fn("locateOpenCode")(function* (environment: NodeJS.ProcessEnv = process.env) {
  const configured = environment.REPRISE_OPENCODE ?? ""
  if (configured !== "") {
    if (yield* isProgram(configured)) return configured
    return yield* new OpenCodeNotFound({ looked: `REPRISE_OPENCODE names ${configured}, which is not a program` })
  }
  for (const manifest of resolveAgent("opencode", "opencode-ai/package.json", environment)) {
    const packaged = yield* programOf(manifest)
    if (Option.isSome(packaged) && (yield* isProgram(packaged.value))) return packaged.value
  }
  const onPath = yield* findProgram("opencode", environment)
  if (onPath !== undefined) return onPath
  return yield* new OpenCodeNotFound({ looked: "neither the package opencode-ai nor opencode on the PATH" })
})

/** Where nothing says what OpenCode imports, whatever this process's own folder is (docs/agents.md#what-opencode-imports). */
export const neutralFolder = "/"

/** The output of `opencode --version`. */
export const openCodeVersion = (program: string): Effect.Effect<string, OpenCodeNotFound> =>
  Effect.callback((resume) => {
    const child = execFile(program, ["--version"], { cwd: neutralFolder, timeout: 30_000 }, (error, stdout) =>
      resume(
        error === null
          ? Effect.succeed(stdout.trim())
          : Effect.fail(new OpenCodeNotFound({ looked: `${program} does not run: ${error.message}` }))
      )
    )
    return Effect.sync(() => child.kill())
  })

/** The packages that agents come in: where one is found, and how one that is missing is installed. */
import { mkdir, rm } from "node:fs/promises"
import { createRequire } from "node:module"
import { isAbsolute, join } from "node:path"
import { type ProgramFailed, runProgram, userCacheFolder } from "@reprise/process"
import type { BuiltInRuntime } from "@reprise/protocol"
import { Effect, Schema } from "effect"
import manifest from "../package.json" with { type: "json" }

type Environment = Readonly<Record<string, string | undefined>>

export interface AgentPackage {
  readonly name: string
  /** The adapter was measured with this one. */
  readonly version: string
  /** What it takes on disk, about. */
  readonly megabytes: number
}

export const agentPackages: Readonly<Record<BuiltInRuntime, AgentPackage>> = {
  opencode: { name: "opencode-ai", version: manifest.dependencies["opencode-ai"], megabytes: 370 },
  claude: {
    name: "@anthropic-ai/claude-agent-sdk",
    version: manifest.peerDependencies["@anthropic-ai/claude-agent-sdk"],
    megabytes: 390
  }
}

/** A folder for each version, so that another one never stands half-way between two. */
const folderOf = ({ name, version }: AgentPackage, environment: Environment): string =>
  join(userCacheFolder(environment), "agents", `${name.replace("/", "-")}@${version}`)

/**
 * The path of a module of the agent's package in each place that has it: beside Reprise, where `installAgent` put it, and
 * beside the program that a human named, if so.
 * The one beside Reprise can be there without its program, which is a package of its own.
 */
export const resolveAgent = (
  runtime: BuiltInRuntime,
  specifier: string,
  environment: Environment,
  program = ""
): ReadonlyArray<string> =>
  [
    import.meta.url,
    join(folderOf(agentPackages[runtime], environment), "package.json"),
    ...(isAbsolute(program) ? [program] : [])
  ].flatMap((from) => {
    try {
      return [createRequire(from).resolve(specifier)]
    } catch {
      return []
    }
  })

export class AgentNotInstalled extends Schema.TaggedError<AgentNotInstalled>()("AgentNotInstalled", {
  name: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `${this.name} could not be installed: ${this.reason}`
  }
}

const installMs = 15 * 60_000

const lastLines = (text: string): string => text.trim().split("\n").slice(-5).join("\n")

const failed = (name: string) => (error: ProgramFailed | Error) =>
  new AgentNotInstalled({
    name,
    reason: "reason" in error && error.reason === "not-found" ? "there is no npm on the PATH" : error.message
  })

/**
 * Installs the agent's package with npm, in a folder of its own below the user's cache; `locateOpenCode` and `locateClaude`
 * find it there. Interrupted or failed, it leaves nothing behind. Fails with `AgentNotInstalled`.
 */
export const installAgent = Effect.fn("installAgent")(function* (
  runtime: BuiltInRuntime,
  environment: Readonly<Record<string, string>>
) {
  const wanted = agentPackages[runtime]
  const folder = folderOf(wanted, environment)
  const remove = Effect.promise(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const install = Effect.gen(function* () {
    yield* remove
    yield* Effect.tryPromise({
      try: () => mkdir(folder, { recursive: true, mode: 0o700 }),
      catch: (cause) => failed(wanted.name)(cause instanceof Error ? cause : new Error(String(cause)))
    })
    const { exitCode, stderr } = yield* runProgram({
      program: "npm",
      // A registry that cannot be reached is said soon, not after minutes for each of the package's platforms.
      args: [
        "install",
        "--prefix",
        folder,
        "--no-audit",
        "--no-fund",
        "--fetch-retries=0",
        `${wanted.name}@${wanted.version}`
      ],
      environment,
      directory: folder,
      timeoutMs: installMs
    }).pipe(Effect.mapError(failed(wanted.name)))
    if (exitCode !== 0) return yield* new AgentNotInstalled({ name: wanted.name, reason: lastLines(stderr) })
  })
  yield* install.pipe(Effect.onError(() => remove))
})

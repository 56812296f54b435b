/** Checks the programs that a run needs: Node, git, nats-server, OpenCode, and Claude if it is installed. */
import { locateClaude, locateOpenCode } from "@reprise/agent"
import { formatVersion, locateServer, notGuaranteed } from "@reprise/nats"
import { runProgram } from "@reprise/process"
import { Effect } from "effect"
import { hostEnvironment } from "../../system/agents/hostEnvironment.ts"
import { broken, type Finding, ok, warning } from "./findings.ts"

export const checkNode: Effect.Effect<Finding> = Effect.sync(() =>
  ok("node", `${process.version} (${process.execPath})`)
)

/**
 * Another program at its place succeeds too, but says something else first. OpenCode imports what files around its folder say
 * (docs/agents.md#what-opencode-imports), so no program is asked in the user's.
 */
const version = (program: string, begins: RegExp) =>
  runProgram({ program, args: ["--version"], directory: "/", environment: hostEnvironment(), timeoutMs: 20_000 }).pipe(
    Effect.flatMap(({ exitCode, stderr, stdout }) =>
      exitCode === 0 && begins.test(stdout)
        ? Effect.succeed(stdout.trim())
        : Effect.fail(
            new Error(
              `${program} is not what it should be: --version says '${(stdout || stderr).trim().slice(0, 80)}'.`
            )
          )
    )
  )

const versionNumber = /^\d+\.\d+/

export const checkGit: Effect.Effect<Finding> = version("git", /^git version /).pipe(
  Effect.map((text) => ok("git", text)),
  Effect.orElseSucceed(() => broken("git", "git does not answer.", "Install git."))
)

/** With `fix`, a missing server is downloaded; otherwise nothing is changed. */
export const checkServerBinary = (fix: boolean): Effect.Effect<Finding> =>
  locateServer({
    environment: fix ? process.env : { ...process.env, REPRISE_NATS_FETCH: "never" },
    onProgress: () => Effect.void
  }).pipe(
    Effect.map((server) => {
      const problems = notGuaranteed(server.version)
      const found = `${formatVersion(server.version)} (${server.path})`
      return problems.length === 0
        ? ok("nats-server", found)
        : warning("nats-server", `${found}: ${problems.join(" ")}`, "Install nats-server 2.10.23 or newer.")
    }),
    Effect.catch((error) =>
      Effect.succeed(
        fix
          ? broken("nats-server", error.message, "Install it, or set REPRISE_NATS_SERVER to its path.")
          : warning(
              "nats-server",
              "Not installed yet.",
              "The first run downloads it; 'reprise doctor --fix' does it now."
            )
      )
    )
  )

export const checkOpenCode: Effect.Effect<Finding> = Effect.gen(function* () {
  const program = yield* locateOpenCode()
  const text = yield* version(program, versionNumber)
  return ok("opencode", `${text} (${program})`)
}).pipe(
  Effect.catch((error) =>
    Effect.succeed(
      broken(
        "opencode",
        error instanceof Error ? error.message : "OpenCode does not answer.",
        "Install it with 'npm install -g opencode-ai', or set REPRISE_OPENCODE to its path."
      )
    )
  )
)

/** Only a run with the runtime `claude` needs it. */
export const checkClaude: Effect.Effect<Finding> = Effect.gen(function* () {
  const { program } = yield* locateClaude()
  return ok("claude", `${yield* version(program, versionNumber)} (${program})`)
}).pipe(
  Effect.catchTag("ClaudeNotInstalled", (error) =>
    Effect.succeed(ok("claude", `Needed only with --runtime claude. ${error.message}`))
  ),
  Effect.orElseSucceed(() =>
    broken(
      "claude",
      "Claude's program does not answer.",
      "Install it again: 'npm i --no-save @anthropic-ai/claude-agent-sdk' in the folder of Reprise."
    )
  )
)

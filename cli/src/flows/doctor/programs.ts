/** The programs that a run needs: Node, git, nats-server, OpenCode, and Claude for who wants it. */
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { locateClaude, locateOpenCode } from "@reprise/agent"
import { formatVersion, locateServer, notGuaranteed } from "@reprise/nats"
import { Effect } from "effect"
import { broken, type Finding, ok, warning } from "./Finding.ts"

const run = promisify(execFile)

export const lookAtNode: Effect.Effect<Finding> = Effect.sync(() =>
  ok("node", `${process.version} (${process.execPath})`)
)

const version = (program: string, args: ReadonlyArray<string>) =>
  Effect.tryPromise(() => run(program, [...args], { timeout: 20_000 })).pipe(Effect.map(({ stdout }) => stdout.trim()))

export const lookAtGit: Effect.Effect<Finding> = version("git", ["--version"]).pipe(
  Effect.map((text) => ok("git", text)),
  Effect.orElseSucceed(() => broken("git", "git does not answer.", "Install git."))
)

/** With `fix`, a missing server is fetched; without, looking changes nothing. */
export const lookAtServerBinary = (fix: boolean): Effect.Effect<Finding> =>
  locateServer({
    environment: fix ? process.env : { ...process.env, REPRISE_NATS_FETCH: "never" },
    onProgress: () => Effect.void
  }).pipe(
    Effect.map((server) => {
      const lacks = notGuaranteed(server.version)
      const what = `${formatVersion(server.version)} (${server.path})`
      return lacks.length === 0
        ? ok("nats-server", what)
        : warning("nats-server", `${what}: ${lacks.join(" ")}`, "Install nats-server 2.10.23 or newer.")
    }),
    Effect.catch((error) =>
      Effect.succeed(
        fix
          ? broken("nats-server", error.message, "Install it, or name it in REPRISE_NATS_SERVER.")
          : warning(
              "nats-server",
              "There is none on this machine yet.",
              "The first run fetches it; 'reprise doctor --fix' does it now."
            )
      )
    )
  )

export const lookAtOpenCode: Effect.Effect<Finding> = Effect.gen(function* () {
  const program = yield* locateOpenCode()
  const text = yield* version(program, ["--version"])
  return ok("opencode", `${text} (${program})`)
}).pipe(
  Effect.catch((error) =>
    Effect.succeed(
      broken(
        "opencode",
        error instanceof Error ? error.message : "OpenCode does not answer.",
        "Install it with 'npm install -g opencode-ai', or name the program in REPRISE_OPENCODE."
      )
    )
  )
)

/** Optional: only a run with the runtime `claude` needs it. */
export const lookAtClaude: Effect.Effect<Finding> = Effect.gen(function* () {
  const { program } = yield* locateClaude()
  return ok("claude", `${yield* version(program, ["--version"])} (${program})`)
}).pipe(
  Effect.catchTag("ClaudeNotInstalled", (error) =>
    Effect.succeed(ok("claude", `Only for --runtime claude. ${error.message}`))
  ),
  Effect.orElseSucceed(() =>
    broken("claude", "Claude's program does not answer.", "Install it again with npm i @anthropic-ai/claude-agent-sdk")
  )
)

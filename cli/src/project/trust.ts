/**
 * Commands in a tracked `reprise.toml` come from whoever can push: they run only after this machine trusted
 * exactly this content (workspace: Trust).
 */
import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { homedir } from "node:os"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { Effect } from "effect"
import { type Config, get } from "../config/Config.ts"
import type { Project } from "./Project.ts"

const run = promisify(execFile)

const trustFile = (): string =>
  join(process.env["XDG_CONFIG_HOME"] || join(homedir(), ".config"), "reprise", "trust.json")

const readTrust = (): Record<string, string> => {
  try {
    const read: unknown = JSON.parse(readFileSync(trustFile(), "utf8"))
    return typeof read === "object" && read !== null ? (read as Record<string, string>) : {}
  } catch {
    // Missing or damaged: nothing is trusted, which asks again.
    return {}
  }
}

/** The commands that a run would execute on its own. */
export const commandsOf = (config: Config): ReadonlyArray<string> => [
  ...get<ReadonlyArray<string>>(config, "gates.quality"),
  ...get<ReadonlyArray<string>>(config, "workspace.postCreate")
]

const digest = (commands: ReadonlyArray<string>): string =>
  createHash("sha256").update(JSON.stringify(commands)).digest("hex")

const isTracked = (project: Project) =>
  Effect.tryPromise(() =>
    run("git", ["ls-files", "--error-unmatch", "--", "reprise.toml"], { cwd: project.root })
  ).pipe(
    Effect.as(true),
    Effect.orElseSucceed(() => false)
  )

/** The commands that still need a human's yes; none when there are none, or the file is the user's own. */
export const untrustedCommands = Effect.fnUntraced(function* (project: Project, config: Config) {
  const fromFile = ["gates.quality", "workspace.postCreate"].some((path) => config.get(path)?.source === "reprise.toml")
  const commands = commandsOf(config)
  if (!fromFile || commands.length === 0 || !(yield* isTracked(project))) return []
  return readTrust()[project.root] === digest(commands) ? [] : commands
})

/** Remembers these commands of this repository on this machine. */
export const trust = (project: Project, config: Config): Effect.Effect<void> =>
  Effect.sync(() => {
    const file = trustFile()
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    const next = { ...readTrust(), [project.root]: digest(commandsOf(config)) }
    writeFileSync(`${file}.${process.pid}`, JSON.stringify(next, null, 2), { mode: 0o600 })
    renameSync(`${file}.${process.pid}`, file)
  })

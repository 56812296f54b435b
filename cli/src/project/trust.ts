/**
 * Commands in a tracked file come from whoever can push, and those in a plan from whoever wrote the plan: they run only
 * after this machine trusted exactly these commands for this repository (workspace: Trust).
 */
import { execFile } from "node:child_process"
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { homedir } from "node:os"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { Effect, Result, Schema } from "effect"
import { type Commands, digestOf } from "./commands.ts"
import { gitEnvironment, type Project } from "./Project.ts"

const run = promisify(execFile)

const trustFile = (): string =>
  join(process.env["XDG_CONFIG_HOME"] || join(homedir(), ".config"), "reprise", "trust.json")

/** By the repository's root: the digests of what may run there. */
const Trust = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Array(Schema.String)))
const decodeTrust = Schema.decodeUnknownResult(Trust)

const readTrust = (): typeof Trust.Type => {
  const text = Result.try(() => readFileSync(trustFile(), "utf8"))
  // Missing or damaged: nothing is trusted, which asks again.
  return Result.getOrElse(Result.flatMap(text, decodeTrust), () => ({}))
}

const isTracked = (project: Project, file: string) =>
  Effect.tryPromise(() =>
    run("git", ["ls-files", "--error-unmatch", "--", file], { cwd: project.root, env: gitEnvironment() })
  ).pipe(
    Effect.as(true),
    Effect.orElseSucceed(() => false)
  )

/** Whether others may have written these commands. Those of the environment are the user's own. */
const isForeign = (project: Project, { source }: Commands): Effect.Effect<boolean> => {
  switch (source) {
    case "plan":
      return Effect.succeed(true)
    case "reprise.toml":
    case "reprise.local.toml":
      return isTracked(project, source)
    default:
      return Effect.succeed(false)
  }
}

/** Those of these commands that still need a human's yes. */
export const untrusted = Effect.fnUntraced(function* (project: Project, wanted: ReadonlyArray<Commands>) {
  const trusted = readTrust()[project.root] ?? []
  const unknown = wanted.filter((commands) => !trusted.includes(digestOf(commands)))
  return yield* Effect.filter(unknown, (commands) => isForeign(project, commands))
})

/** Remembers these commands of this repository on this machine, and what it trusted before. */
export const trust = (project: Project, commands: ReadonlyArray<Commands>): Effect.Effect<void> =>
  Effect.sync(() => {
    const file = trustFile()
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    const before = readTrust()
    const digests = new Set([...(before[project.root] ?? []), ...commands.map(digestOf)])
    writeFileSync(`${file}.${process.pid}`, JSON.stringify({ ...before, [project.root]: [...digests] }, null, 2), {
      mode: 0o600
    })
    renameSync(`${file}.${process.pid}`, file)
  })

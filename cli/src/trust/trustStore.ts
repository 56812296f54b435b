/**
 * What a tracked file allows comes from whoever can push, and what a plan allows from whoever wrote the plan: it counts
 * only after this machine trusted exactly that for this repository (workspace: Trust).
 */
import { execFile } from "node:child_process"
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { homedir } from "node:os"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { Effect, Result, Schema } from "effect"
import { gitEnvironment, type Project } from "../project/Project.ts"
import { digestOf, type Power } from "./trustedSettings.ts"

const run = promisify(execFile)

const trustFile = (): string =>
  join(process.env["XDG_CONFIG_HOME"] || join(homedir(), ".config"), "reprise", "trust.json")

/** By the repository's root: the digests of what is allowed there. */
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

/** Whether others may have written it. The environment and the command line are the user's own. */
const isForeign = (project: Project, { source }: Power): Effect.Effect<boolean> => {
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

/** What of it still needs a human's yes. */
export const untrusted = Effect.fnUntraced(function* (project: Project, wanted: ReadonlyArray<Power>) {
  const trusted = readTrust()[project.root] ?? []
  const unknown = wanted.filter((power) => !trusted.includes(digestOf(power)))
  return yield* Effect.filter(unknown, (power) => isForeign(project, power))
})

/** Remembers it for this repository on this machine, and what it trusted before. */
export const trust = (project: Project, powers: ReadonlyArray<Power>): Effect.Effect<void> =>
  Effect.sync(() => {
    const file = trustFile()
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    const before = readTrust()
    const digests = new Set([...(before[project.root] ?? []), ...powers.map(digestOf)])
    writeFileSync(`${file}.${process.pid}`, JSON.stringify({ ...before, [project.root]: [...digests] }, null, 2), {
      mode: 0o600
    })
    renameSync(`${file}.${process.pid}`, file)
  })

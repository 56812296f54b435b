/**
 * What this machine trusts. Anybody who can push can change a tracked file, and anybody may have written a plan. The
 * settings of both count only after this machine trusted exactly these values for this repository
 * (docs/design/workspace.md#workspace).
 */
import { readFileSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"
import { replaceFile, runGit } from "@reprise/process"
import { Effect, Result, Schema } from "effect"
import type { Project } from "../project/Project.ts"
import { digestOf, type TrustedSetting } from "./trustedSettings.ts"

const trustFile = (): string =>
  join(process.env["XDG_CONFIG_HOME"] || join(homedir(), ".config"), "reprise", "trust.json")

/** By the repository's root: the digests of what is trusted there. */
const Trust = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Array(Schema.String)))
const decodeTrust = Schema.decodeUnknownResult(Trust)

const readTrust = (): typeof Trust.Type => {
  const text = Result.try(() => readFileSync(trustFile(), "utf8"))
  // If the file is missing or damaged nothing is trusted, so the user is asked again.
  return Result.getOrElse(Result.flatMap(text, decodeTrust), () => ({}))
}

const isTracked = (project: Project, file: string) =>
  runGit(project.root, ["ls-files", "--error-unmatch", "--", file]).pipe(
    Effect.map(({ exitCode }) => exitCode === 0),
    Effect.orElseSucceed(() => false)
  )

/** Whether others may have written it. The environment and the command line are the user's own. */
const isForeign = (project: Project, { source }: TrustedSetting): Effect.Effect<boolean> => {
  switch (source) {
    case "plan":
      return Effect.succeed(true)
    case "reprise.toml":
    case "reprise.local.toml":
      return isTracked(project, source)
    case "default":
    case "environment":
    case "command line":
      return Effect.succeed(false)
  }
}

/** The settings that a human has not trusted yet. */
export const untrusted = Effect.fnUntraced(function* (project: Project, wanted: ReadonlyArray<TrustedSetting>) {
  const trusted = readTrust()[project.root] ?? []
  const unknown = wanted.filter((setting) => !trusted.includes(digestOf(setting)))
  return yield* Effect.filter(unknown, (setting) => isForeign(project, setting))
})

/** Trusts these settings for this repository on this machine, and keeps what was trusted before. */
export const trust = (project: Project, settings: ReadonlyArray<TrustedSetting>): Effect.Effect<void> =>
  Effect.promise(() => {
    const before = readTrust()
    const digests = new Set([...(before[project.root] ?? []), ...settings.map(digestOf)])
    return replaceFile(trustFile(), JSON.stringify({ ...before, [project.root]: [...digests] }, null, 2))
  })

/** The work of a phase as git shows it, for whoever answers a question about it. */
import { type GitOptions, runGit, shadowedAttributes, textByContent } from "@reprise/process"
import { Effect } from "effect"
import { type FileDiff, readDiff } from "./readDiff.ts"

/** More is not shown to anybody. */
const largestOutputBytes = 32 * 1024 * 1024

/** Whether git ended by itself, and what it wrote until then; without the line or the name in which it was ended. */
const git = (directory: string, args: ReadonlyArray<string>, end: "\n" | "\0", options: GitOptions = {}) =>
  runGit(directory, args, { ...options, cutsOutput: true, largestOutputBytes }).pipe(
    Effect.mapError(({ message }) => message),
    Effect.flatMap(({ exitCode, isCut = false, stderr, stdout }) =>
      exitCode === 0
        ? Effect.succeed({ isCut, output: isCut ? stdout.slice(0, stdout.lastIndexOf(end) + 1) : stdout })
        : Effect.fail(stderr)
    )
  )

const list = (directory: string, args: ReadonlyArray<string>, end: "\n" | "\0") =>
  Effect.map(git(directory, args, end), ({ output }) => output.split(end).filter((one) => one !== ""))

/** In git's own form, whatever the user's configuration says. */
const settings = ["core.quotePath=false", "core.bigFileThreshold=16m", "diff.suppressBlankEmpty=false"]
const plain = ["--no-color", "--src-prefix=a/", "--dst-prefix=b/", "--find-renames", "--no-relative"]

export interface Work {
  /** One line each, newest first. */
  readonly commits: ReadonlyArray<string>
  readonly untracked: ReadonlyArray<string>
  /** Committed or not. */
  readonly files: ReadonlyArray<FileDiff>
}

/** The phase's work so far, of each part what git writes in 32 MB. Fails with a text that says why. */
export const workSince = (directory: string, base = "HEAD"): Effect.Effect<Work, string> =>
  Effect.gen(function* () {
    const log = ["log", "--oneline", "--no-decorate", "--no-color", "--end-of-options", `${base}..HEAD`]
    const commits = yield* list(directory, log, "\n")
    const shared = yield* shadowedAttributes(directory, textByContent).pipe(Effect.mapError(({ message }) => message))
    const formats = ["--raw", "--numstat", "-z", "--patch", ...plain]
    const diff = [...settings.flatMap((one) => ["-c", one]), "diff", ...formats, "--end-of-options", base]
    const { isCut, output } = yield* git(directory, diff, "\n", shared)
    const files = readDiff(output, isCut)
    if (files === undefined) return yield* Effect.fail("the names of the changed files alone have over 32 MB")
    const untracked = yield* list(directory, ["ls-files", "-z", "--others", "--exclude-standard"], "\0")
    return { commits, files, untracked }
  }).pipe(Effect.scoped)

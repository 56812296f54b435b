/** The work of a phase as git shows it, for whoever answers a question about it. */
import { runGit } from "@reprise/process"
import { Effect } from "effect"

/** More is not shown to anybody. */
const largestOutputBytes = 32 * 1024 * 1024

const wholeLines = (text: string): string =>
  `${text.slice(0, text.lastIndexOf("\n") + 1)}… and more: git wrote over ${largestOutputBytes / 1024 / 1024} MB`

/** Fails with a text that says why. */
const git = (directory: string, ...args: ReadonlyArray<string>): Effect.Effect<string, string> =>
  runGit(directory, args, { cutsOutput: true, largestOutputBytes }).pipe(
    Effect.mapError(({ message }) => message),
    Effect.flatMap(({ exitCode, isCut = false, stderr, stdout }) => {
      if (exitCode !== 0) return Effect.fail(stderr)
      return Effect.succeed(isCut ? wholeLines(stdout) : stdout.trimEnd())
    })
  )

/** In git's own form, whatever the user's configuration says. */
const plain = ["--no-color", "--src-prefix=a/", "--dst-prefix=b/"]

/** The phase's work so far, each part up to 32 MB, as git prints it: its commits, its changes, committed or not, and untracked files. */
export const workSince = Effect.fnUntraced(function* (
  directory: string,
  base = "HEAD",
  formats: ReadonlyArray<string> = ["--patch"]
) {
  const commits = yield* git(
    directory,
    "log",
    "--oneline",
    "--no-decorate",
    "--no-color",
    "--end-of-options",
    `${base}..HEAD`
  )
  const changes = yield* git(
    directory,
    "-c",
    "core.quotePath=false",
    "-c",
    "core.bigFileThreshold=16m",
    "diff",
    ...formats,
    ...plain,
    "--end-of-options",
    base
  )
  const untracked = yield* git(directory, "ls-files", "--others", "--exclude-standard")
  return { commits, changes, untracked }
})

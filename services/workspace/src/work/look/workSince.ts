/** The work of a phase as git shows it, for whoever answers a question about it. */
import { runGit } from "@reprise/process"
import { Effect } from "effect"

const git = (directory: string, ...args: ReadonlyArray<string>) =>
  Effect.flatMap(runGit(directory, args), ({ exitCode, stderr, stdout }) =>
    exitCode === 0 ? Effect.succeed(stdout.trimEnd()) : Effect.fail(stderr)
  )

/** Without the programs that a repository names for its files, or one inside of it, and in git's own form. */
const plain = [
  ...["--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty"],
  ...["--no-color", "--src-prefix=a/", "--dst-prefix=b/"]
]

/** The phase's work so far, as git prints it: its commits, its changes, committed or not, and untracked files. */
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
    "diff",
    ...formats,
    ...plain,
    "--end-of-options",
    base
  )
  const untracked = yield* git(directory, "ls-files", "--others", "--exclude-standard")
  return { commits, changes, untracked }
})

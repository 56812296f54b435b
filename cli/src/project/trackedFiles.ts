/** What a repository brings along: the files that git tracks. */
import { runGit } from "@reprise/process"
import { Effect } from "effect"
import type { Project } from "./Project.ts"

/** Whatever the case of its letters: some file systems find `Reprise.toml` under `reprise.toml`. */
const anyCase = ["--no-literal-pathspecs", "--icase-pathspecs"]

/**
 * The files that git tracks at or below some paths of a working tree; undefined if git cannot tell. The paths have no
 * characters that git reads as a pattern.
 */
export const trackedFiles = (
  directory: string,
  paths: ReadonlyArray<string>
): Effect.Effect<ReadonlyArray<string> | undefined> =>
  runGit(directory, [...anyCase, "ls-files", "-z", "--", ...paths]).pipe(
    Effect.map(({ exitCode, stdout }) =>
      exitCode === 0 ? stdout.split("\0").filter((path) => path !== "") : undefined
    ),
    Effect.orElseSucceed(() => undefined)
  )

const markdown = ["*.md", "*.markdown"]

/** The markdown files of a working tree that git tracks or does not ignore; none if git cannot tell. */
export const ownMarkdown = (directory: string): Effect.Effect<ReadonlyArray<string>> =>
  runGit(directory, [
    ...anyCase,
    "ls-files",
    "-z",
    "--cached",
    "--others",
    "--exclude-standard",
    "--",
    ...markdown
  ]).pipe(
    Effect.map(({ stdout }) => [...new Set(stdout.split("\0"))].filter((path) => path !== "")),
    Effect.orElseSucceed(() => [])
  )

/**
 * Whether git tracks a file, or anything in a folder, of a project. True as well if git cannot tell: what might come
 * from others is treated as theirs.
 */
export const isTracked = ({ root }: Project, path: string): Effect.Effect<boolean> =>
  Effect.map(trackedFiles(root, [path]), (files) => files === undefined || files.length > 0)

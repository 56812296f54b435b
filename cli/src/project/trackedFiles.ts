/** What a repository brings along: the files that git tracks. */
import { createHash } from "node:crypto"
import { runGit } from "@reprise/process"
import { Effect } from "effect"
import type { Project } from "./Project.ts"

/** Whatever the case of its letters: some file systems find `Reprise.toml` under `reprise.toml`. */
const anyCase = ["--no-literal-pathspecs", "--icase-pathspecs"]

/** Where a command broke `.git`, the repository around it would say that it tracks nothing of this. */
const atTop = { isTop: true }

const listed = (directory: string, args: ReadonlyArray<string>) =>
  runGit(directory, [...anyCase, ...args], atTop).pipe(
    Effect.map(({ exitCode, stdout }) =>
      exitCode === 0 ? stdout.split("\0").filter((path) => path !== "") : undefined
    ),
    Effect.orElseSucceed(() => undefined)
  )

/**
 * The files that git tracks at or below some paths of a working tree; undefined if git cannot tell. The paths may be
 * patterns of git.
 */
export const trackedFiles = (
  directory: string,
  paths: ReadonlyArray<string>
): Effect.Effect<ReadonlyArray<string> | undefined> => listed(directory, ["ls-files", "-z", "--", ...paths])

const markdown = ["*.md", "*.markdown"]

/** The markdown files of a working tree that git tracks or does not ignore; none if git cannot tell. */
export const ownMarkdown = (directory: string): Effect.Effect<ReadonlyArray<string>> =>
  runGit(
    directory,
    [...anyCase, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", ...markdown],
    atTop
  ).pipe(
    Effect.map(({ stdout }) => [...new Set(stdout.split("\0"))].filter((path) => path !== "")),
    Effect.orElseSucceed(() => [])
  )

/** As git names a content, by either of its hashes. */
export const blobNames = (bytes: Buffer): ReadonlyArray<string> =>
  ["sha1", "sha256"].map((algorithm) =>
    createHash(algorithm).update(`blob ${bytes.length}\0`).update(bytes).digest("hex")
  )

/**
 * Which of some contents, by git's names, the repository has, or all if git cannot tell: somebody has committed these, wherever,
 * so they may have come from others. A command can take a file out of the index and out of the newest commit; it stays on the
 * disk.
 */
export const knownBlobs = (directory: string, names: ReadonlyArray<string>): Effect.Effect<ReadonlySet<string>> => {
  if (names.length === 0) return Effect.succeed(new Set())
  return runGit(directory, ["cat-file", "--batch-check=%(objectname) %(objecttype)"], {
    ...atTop,
    input: names.map((name) => `${name}\n`).join("")
  }).pipe(
    Effect.map(({ exitCode, stdout }) => {
      const found = new Set(stdout.split("\n"))
      return new Set(names.filter((name) => exitCode !== 0 || found.has(`${name} blob`)))
    }),
    Effect.orElseSucceed(() => new Set(names))
  )
}

/**
 * Whether git tracks a file, or anything in a folder, of a project. True as well if git cannot tell: what might come
 * from others is treated as theirs.
 */
export const isTracked = ({ root }: Project, path: string): Effect.Effect<boolean> =>
  Effect.map(trackedFiles(root, [path]), (files) => files === undefined || files.length > 0)

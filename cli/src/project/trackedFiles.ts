/** What a repository brings along: the files that git tracks. */
import { createHash } from "node:crypto"
import { dirname, join } from "node:path"
import { rememberWhile, runGit } from "@reprise/process"
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

/** What cannot be told is asked for again. */
const cannotTell = new Error("git cannot tell")

interface Place {
  readonly directory: string
  /** Absolute. */
  readonly index: string
  /** Without one of these it is no repository, and git cannot tell. */
  readonly needed: ReadonlyArray<string>
}

const places = rememberWhile<Place>(({ directory, needed }) => [join(directory, ".git"), ...needed])

const findPlace = Effect.fnUntraced(function* (directory: string) {
  const asked = ["rev-parse", "--path-format=absolute", "--git-path", "index", "--git-common-dir"]
  const { exitCode, stdout } = yield* runGit(directory, asked, atTop)
  const [index = "", common = "", ...rest] = stdout.split("\n")
  // A folder may have a line break in its name.
  if (exitCode !== 0 || rest.length !== 1) return yield* Effect.fail(cannotTell)
  const needed = [join(dirname(index), "HEAD"), join(common, "objects"), join(common, "refs")]
  return { directory, index, needed } satisfies Place
})

interface Tracked {
  readonly place: Place
  readonly files: ReadonlyArray<string>
}

const remembered = rememberWhile<Tracked>(({ place: { index, needed } }) => [index, ...needed])

/**
 * The files that git tracks at or below some paths of a working tree; undefined if git cannot tell. The paths may be
 * patterns of git. It is asked again once its index is another one.
 */
export const trackedFiles = Effect.fnUntraced(function* (directory: string, paths: ReadonlyArray<string>) {
  const run = Effect.runPromiseWith(yield* Effect.context<never>())
  const list = Effect.flatMap(listed(directory, ["ls-files", "-z", "--", ...paths]), (files) =>
    files === undefined ? Effect.fail(cannotTell) : Effect.succeed(files)
  )
  const found = Effect.tryPromise(async () => {
    const place = await places(directory, () => run(findPlace(directory)))
    return await remembered(JSON.stringify([directory, paths]), async () => ({ place, files: await run(list) }))
  })
  return yield* found.pipe(
    Effect.map(({ files }): ReadonlyArray<string> | undefined => files),
    Effect.orElseSucceed(() => undefined)
  )
})

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

/**
 * Whether a submodule holds changes that are not committed. A repository inside of another has a configuration of its own,
 * which an agent may have written, and git would run the filters and monitors that it names. So git looks at the submodule's
 * files with the configuration of the repository around it (docs/security.md#the-sandbox).
 */
import { access, stat } from "node:fs/promises"
import { join, resolve } from "node:path"
import { Effect } from "effect"
import { readForeignText } from "./foreignFile.ts"
import { type GitOptions, type GitPlace, runGit } from "./runGit.ts"
import { ProgramFailed } from "./runProgram.ts"

/** A submodule of a repository, as that repository's index has it. */
interface Gitlink {
  readonly commit: string
  /** Relative to the root. */
  readonly path: string
}

/** The records of `git ls-files --stage -z` that are submodules. */
export const readGitlinks = (listed: string): ReadonlyArray<Gitlink> =>
  listed.split("\0").flatMap((record) => {
    const [, commit, path] = /^160000 ([0-9a-f]+) \d\t(.+)$/s.exec(record) ?? []
    return commit === undefined || path === undefined ? [] : [{ commit, path }]
  })

const firstLine = (text: string) => text.split("\n", 1)[0]?.trim() ?? ""

/** A path, on one line. */
const largestBytes = 64 * 1024

/** Undefined: the submodule is not checked out. Reads the files as git does. Rejected when they cannot be read. */
export const placeOfSubmodule = async (directory: string, gitDirectory: string): Promise<GitPlace | undefined> => {
  const dotGit = join(directory, ".git")
  const found = await stat(dotGit).catch(() => undefined)
  if (found === undefined) return undefined
  const own = found.isDirectory()
    ? dotGit
    : resolve(
        directory,
        firstLine((await readForeignText(dotGit, { largestBytes, follow: true })) ?? "").replace(/^gitdir: /, "")
      )
  const shared = await readForeignText(join(own, "commondir"), { largestBytes, follow: true })
  const common = shared === undefined ? own : resolve(own, firstLine(shared))
  const exclude = join(common, "info", "exclude")
  const hasExclude = await access(exclude).then(
    () => true,
    () => false
  )
  return {
    gitDirectory,
    workTree: directory,
    index: join(own, "index"),
    objects: join(common, "objects"),
    ...(hasExclude ? { exclude } : {})
  }
}

const compare = ["--name-only", "-z", "--end-of-options"]

/** Whatever git cannot read counts as a change. */
const isChanged = Effect.fnUntraced(function* (place: GitPlace, commit: string, options: GitOptions) {
  const exclude = place.exclude === undefined ? [] : [`--exclude-from=${place.exclude}`]
  const looks = [
    ["diff", ...compare, commit, "--"],
    ["diff", "--cached", ...compare, commit, "--"],
    ["ls-files", "--others", "--exclude-standard", ...exclude, "--directory", "-z"]
  ]
  for (const args of looks) {
    const { exitCode, stdout } = yield* runGit(place.workTree, args, { ...options, place })
    if (exitCode !== 0 || stdout !== "") return true
  }
  return false
})

/** No repository has submodules as deep as this; a chain that has is somebody's trick. */
const deepest = 8
/** For each some gits are started, so many at a time. */
const mostCheckedOut = 1_000
const atOnce = { concurrency: 4 }

/** How many more submodules are looked at. */
interface Left {
  count: number
}

const takeOne = (left: Left, most: number): Effect.Effect<void, ProgramFailed> => {
  left.count -= 1
  const cause = `there are more than ${most} submodules with files`
  return left.count < 0 ? Effect.fail(new ProgramFailed({ program: "git", reason: "output", cause })) : Effect.void
}

type GitDirectory = Effect.Effect<string | undefined, ProgramFailed>

/** The paths of the submodules below a directory that hold changes, without those in `known`. */
const changedBelow = (
  directory: string,
  gitDirectory: GitDirectory,
  options: GitOptions,
  known: ReadonlySet<string>,
  depth: number,
  left: Left,
  most: number
): Effect.Effect<ReadonlyArray<string>, ProgramFailed> =>
  Effect.gen(function* () {
    const listed = yield* runGit(directory, ["ls-files", "--stage", "-z"], options)
    const links = readGitlinks(listed.stdout).filter(({ path }) => !known.has(path))
    // Most repositories have none, and are looked at often.
    const git = links.length === 0 ? undefined : yield* gitDirectory
    if (git === undefined) return []
    const isOtherwise = ({ commit, path }: Gitlink) =>
      Effect.gen(function* () {
        const place = yield* Effect.tryPromise(() => placeOfSubmodule(join(directory, path), git)).pipe(
          // Its files cannot be read, so nobody knows what they hold.
          Effect.orElseSucceed(() => "unreadable" as const)
        )
        if (place === undefined) return false
        yield* takeOne(left, most)
        if (place === "unreadable" || depth >= deepest || (yield* isChanged(place, commit, options))) return true
        const inside = { ...options, place }
        const below = changedBelow(place.workTree, Effect.succeed(git), inside, new Set(), depth + 1, left, most)
        return (yield* below).length > 0
      })
    const changed = yield* Effect.filter(links, isOtherwise, atOnce)
    return changed.map(({ path }) => path)
  })

/**
 * The submodules of a working tree, relative to its root, whose checked-out commit is the recorded one but which hold
 * changed or untracked files. Those in `known` are not looked at. Fails with `output` where more than `most` have files.
 */
export const changedSubmodules = Effect.fn("changedSubmodules")(
  (directory: string, known: ReadonlySet<string>, options: GitOptions = {}, most = mostCheckedOut) => {
    const gitDirectory: GitDirectory = Effect.map(
      runGit(directory, ["rev-parse", "--absolute-git-dir"], options),
      ({ exitCode, stdout }) => (exitCode === 0 ? stdout.trimEnd() : undefined)
    )
    return changedBelow(directory, gitDirectory, options, known, 0, { count: most }, most)
  }
)

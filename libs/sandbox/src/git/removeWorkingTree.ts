/** Removes a worktree of git as `git worktree remove` does, which stays at folders to which a command took its user's rights. */
import { realpath } from "node:fs/promises"
import { type GitOptions, type ProgramFailed, removeForeign, runGit } from "@reprise/process"
import { Effect, Schema } from "effect"
import { onDisk } from "../nested/gitSays.ts"

/** Nothing was removed, or not all. */
export class WorktreeStays extends Schema.TaggedError<WorktreeStays>()("WorktreeStays", {
  directory: Schema.String,
  /** A sentence with the next step. */
  why: Schema.String
}) {
  override get message() {
    return `The worktree ${this.directory} was not removed. ${this.why}`
  }
}

const real = (path: string) => Effect.promise(() => realpath(path).catch(() => path))

/**
 * With everything in it. `tree`: in a folder that no command may replace; one that is no worktree of the repository stays as it is. Fails
 * with `WorktreeStays` where somebody has locked it, unless it is to go `evenLocked`.
 */
export const removeWorkingTree = Effect.fnUntraced(function* (
  repository: string,
  tree: string,
  options: GitOptions,
  { evenLocked = false }: { readonly evenLocked?: boolean } = {}
): Effect.fn.Return<void, ProgramFailed | WorktreeStays> {
  const git = (...args: ReadonlyArray<string>) => runGit(repository, ["worktree", ...args], options)
  const stays = (why: string) => new WorktreeStays({ directory: tree, why })
  const at = yield* real(tree)
  const { exitCode, stderr, stdout } = yield* git("list", "--porcelain", "-z")
  if (exitCode !== 0) return yield* stays(stderr.trim())
  const [, ...linked] = stdout.split("\0\0").map((record) => record.split("\0"))
  for (const [first = "", ...fields] of linked) {
    const path = first.slice("worktree ".length)
    if ((yield* real(path)) !== at) continue
    if (!evenLocked && fields.some((field) => /^locked\b/.test(field)))
      return yield* stays(`It is locked: 'git worktree unlock ${tree}' unlocks it.`)
    yield* Effect.mapError(
      onDisk(() => removeForeign(at)),
      ({ message }) => stays(message)
    )
    const removed = yield* git("remove", "--force", "--force", "--", path)
    if (removed.exitCode !== 0) return yield* stays(removed.stderr.trim())
  }
})

import { foreignDirt, Git } from "@reprise/workspace"
import { Effect } from "effect"
import type { Project } from "../../project/Project.ts"
import { missing } from "../../terminal/CliFailure.ts"

const shown = 10

/** Fails with exit code 3 where nothing was committed yet. */
export const requireCommit = Effect.fn("requireCommit")(function* ({ root }: Project) {
  const git = yield* Git
  const head = yield* git
    .head(root)
    .pipe(Effect.mapError((fault) => missing("git", fault.message, `Try 'git status' in ${root}.`, fault)))
  if (head !== undefined) return
  return yield* missing("no-commit", `${root} has no commit yet.`, "Commit the plan first: git add, git commit.")
}, Effect.provide(Git.layer))

/** Fails with exit code 3, naming what is not committed, untracked files included (workspace: Prepare). */
export const requireCleanTree = Effect.fn("requireCleanTree")(function* ({ root }: Project) {
  const dirty = yield* foreignDirt(root).pipe(
    Effect.mapError((fault) => missing("git", fault.message, `Try 'git status' in ${root}.`, fault))
  )
  if (dirty.length === 0) return
  const list = dirty.slice(0, shown).map((path) => `  ${path}`)
  const more = dirty.length > shown ? [`  … and ${dirty.length - shown} more`] : []
  return yield* missing(
    "dirty-tree",
    ["The working tree is not clean:", ...list, ...more].join("\n"),
    "Commit or stash it, or start with --allow-dirty."
  )
}, Effect.provide(Git.layer))

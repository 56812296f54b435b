/**
 * What quality gates leave among files that no commit has counts for nobody: the code that left it may be taken out of the next
 * commit, and no reviewer sees it. So Reprise puts the tree back, and no author is told to (docs/design/workspace.md#what-gates-run-on).
 */
import { link, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from "node:fs/promises"
import { basename, join } from "node:path"
import { type ChangedFile, hasCode, removeForeign } from "@reprise/process"
import { Effect } from "effect"
import type { Place } from "../../actor/work.ts"
import { HostFault } from "../faults.ts"
import { listSome } from "../files/ownFiles.ts"
import { removeEmptyFolders } from "../files/removeEmptyFolders.ts"
import { changedTolerated, contentsOfTolerated } from "../files/toleratedFiles.ts"
import { withParent } from "../files/withParent.ts"
import { Git } from "../git/Git.ts"
import { ownTreeFolder } from "../git/ownTreeFolder.ts"

type Tree = Pick<Place, "directory" | "root" | "tolerated">

/** Beside Reprise's own index of the tree, and removed with it. */
const asideOf = (tree: Tree): string => `${ownTreeFolder(tree)}-left`

/** A new folder for what is put aside. Of a worktree of a run only the newest stays; in the user's own tree it may be the user's. */
const makeAside = async (tree: Tree): Promise<string> => {
  const folder = asideOf(tree)
  if (tree.directory !== tree.root) await removeForeign(folder)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  return mkdtemp(join(folder, "gates-"))
}

/** Puts back what a file held, in one step: it is never missing. The mode says whether it is a link. */
const writeBack = async (kept: string, { mode }: { readonly mode: number }, draft: string): Promise<void> => {
  const content = await readFile(kept)
  if ((mode & 0o170000) === 0o120000) await symlink(content, draft)
  else await writeFile(draft, content, { flag: "wx", mode: mode & 0o777 })
}

type Outcome = "aside" | "back" | "failed"

/** Changes one entry of the tree. `path`: relative. */
const putRight = async (
  tree: Tree,
  aside: string,
  number: number,
  { before, path }: Pick<ChangedFile, "before" | "path">
): Promise<Outcome> => {
  const draft = join(aside, `draft-${number}`)
  const isKept =
    before !== undefined &&
    (await writeBack(join(contentsOfTolerated(tree), before.hash), before, draft).then(
      () => true,
      () => false
    ))
  try {
    return await withParent(tree.directory, path, "remove", async (parent, name) => {
      const place = join(parent.path, name)
      const left = join(aside, `${number}-${basename(path)}`)
      if (!isKept) {
        await rename(place, left)
        return "aside"
      }
      // A second name keeps what is there, and the place is never empty; a folder in the place has to go first.
      await link(place, left).catch((error) => (hasCode(error, "ENOENT") ? undefined : rename(place, left)))
      await rename(draft, place)
      return "back"
    })
  } finally {
    await rm(draft, { force: true })
  }
}

/** What is to be put right: what lies unseen in the tree, and, of what was not committed before the run, new and changed files. */
const findLeftovers = Effect.fnUntraced(function* (tree: Tree) {
  const git = yield* Git
  const { directory, root, tolerated } = tree
  const folder = ownTreeFolder(tree)
  const unseen = yield* git.addedUnseen(directory, folder)
  const empty = unseen.filter(({ isEmpty }) => isEmpty === true)
  yield* removeEmptyFolders(
    directory,
    empty.map(({ path }) => join(directory, path))
  )
  const changed =
    tolerated.length === 0 ? [] : yield* changedTolerated(tree, yield* git.differences(directory, folder, "after"))
  return [
    ...unseen.flatMap(
      ({ isEmpty, path }): ReadonlyArray<Pick<ChangedFile, "before" | "path">> => (isEmpty === true ? [] : [{ path }])
    ),
    // In the user's own tree the user may have changed it; a person is told when the commit is verified.
    ...changed.filter(({ how }) => how === "new" || (how === "changed" && directory !== root))
  ]
})

/**
 * Puts the tree back as it was before quality gates ran, as far as neither git shows what they left nor rules hide it: empty folders
 * are removed, new files, pipes and sockets put aside, changed files of a worktree put back. Gives what a person should know.
 */
export const putBackLeftovers = Effect.fn("putBackLeftovers")(function* (tree: Tree) {
  const found = yield* findLeftovers(tree)
  if (found.length === 0) return []
  const aside = yield* Effect.tryPromise({
    try: () => makeAside(tree),
    catch: (cause) => new HostFault({ operation: "making a folder for what quality gates left", cause })
  })
  const outcomes = yield* Effect.forEach([...found.entries()], ([number, one]) =>
    Effect.promise(() =>
      putRight(tree, aside, number, one).then(
        (outcome) => ({ path: one.path, outcome }),
        (): { readonly path: string; readonly outcome: Outcome } => ({ path: one.path, outcome: "failed" })
      )
    )
  )
  const told = (outcome: Outcome, sentence: string) => {
    const paths = outcomes.filter((one) => one.outcome === outcome).map(({ path }) => path)
    return paths.length === 0 ? [] : [`${sentence}: ${listSome(paths)}.`]
  }
  const notes = [
    ...told("aside", `Quality gates left what no commit has; it was moved to ${aside}`),
    ...told(
      "back",
      `Quality gates changed files that no commit has; they were put back, and the changed ones are in ${aside}`
    ),
    ...told("failed", "Quality gates left what no commit has, and it could not be moved away")
  ]
  yield* Effect.forEach(notes, (note) => Effect.logWarning(note))
  return notes
})

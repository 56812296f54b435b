/** Gives submodules that an author added a git directory in the repository, as 'git submodule add' would have made it. */
import { lstat, mkdir, writeFile } from "node:fs/promises"
import { join, normalize, relative, resolve } from "node:path"
import { removeForeign } from "@reprise/process"
import { Effect } from "effect"
import { exists } from "../disk/pathsOnDisk.ts"
import { onDisk } from "../nested/gitSays.ts"
import { isWithin } from "../policy/mounts.ts"
import { gitIn, type Here, insistIn } from "./cloneGit.ts"
import type { ClonedDirectory } from "./clonePlaces.ts"

const isFolder = (path: string) =>
  Effect.promise(() =>
    lstat(path).then(
      (found) => found.isDirectory(),
      () => false
    )
  )

interface Named {
  readonly name: string
  readonly path: string
}

/** As `.gitmodules` has it: `submodule.NAME.path`, a line break, and its value. Pure. */
export const namedIn = (listed: string): ReadonlyArray<Named> => {
  const paths = new Map<string, string>()
  for (const entry of listed.split("\0")) {
    const [, name = "", path = ""] = /^submodule\.([^\n]+)\.path\n(.*)$/su.exec(entry) ?? []
    if (path !== "") paths.set(name, path)
  }
  return [...paths].map(([name, path]) => ({ name, path }))
}

/** Whether git, and a disk, take a name for a folder below `modules`, in none that is a git directory itself. */
const isPlaceFor = (modules: string, name: string): boolean => {
  const parts = name.split("/")
  const isPlain = parts.every((part) => part !== "" && part !== "." && part !== ".." && !/[\p{Cc}\\:]/u.test(part))
  const above = parts.slice(0, -1).map((_, at) => join(modules, ...parts.slice(0, at + 1)))
  return isPlain && above.every((folder) => !exists(join(folder, "HEAD")) && !exists(join(folder, "config")))
}

/** Where submodules that are there have their trees. */
const treesOf = (here: Here, directories: ReadonlyArray<string>) =>
  Effect.forEach(directories, (directory) =>
    Effect.map(gitIn(here, ["config", "--file", join(directory, "config"), "--get", "core.worktree"]), ({ stdout }) =>
      resolve(directory, stdout.trimEnd())
    )
  )

/** As `git init` does, which would take the tree for its own. */
const makeEmpty = async (folder: string, isSha256: boolean): Promise<void> => {
  for (const name of ["objects", "refs"]) await mkdir(join(folder, name), { recursive: true })
  await writeFile(join(folder, "HEAD"), "ref: refs/heads/main\n")
  const format = isSha256 ? "1\n[extensions]\n\tobjectFormat = sha256\n" : "0\n"
  await writeFile(join(folder, "config"), `[core]\n\tbare = false\n\trepositoryformatversion = ${format}`)
}

export interface AddedSubmodule extends ClonedDirectory {
  /** Where it is made: it appears in its place when it has all that its clone has. */
  readonly draft: string
}

/**
 * `own`: the clone of the working tree's git directory, `others`: of submodules that are there. Gives what is to be fetched besides.
 * Without the address that the author wrote: `git submodule sync` takes it from `.gitmodules`.
 */
export const newSubmodules = Effect.fnUntraced(function* (
  here: Here,
  own: ClonedDirectory,
  others: ReadonlyArray<ClonedDirectory>,
  commit: string
) {
  const named = ["config", "--blob", `${commit}:.gitmodules`, "-z", "--get-regexp", "^submodule\\."]
  const { stdout } = yield* gitIn(here, named)
  const modules = join(own.directory, "modules")
  const added: Array<AddedSubmodule> = []
  let taken: ReadonlyArray<string> | undefined
  for (const { name, path } of namedIn(stdout)) {
    const directory = join(modules, name)
    const to = join(own.to, "modules", name)
    const tree = join(here.workspace, path)
    const isInAnother = added.some((one) => isWithin(directory, one.directory) || isWithin(one.directory, directory))
    const isNew = isPlaceFor(modules, name) && !isInAnother && !exists(directory)
    if (!isNew || normalize(path) !== path || path.endsWith("/") || !(yield* isFolder(to))) continue
    // What git refuses as a path is in no tree that it took.
    const { stdout: entry } = yield* gitIn(here, ["ls-tree", "-z", commit, "--", path])
    taken ??= yield* treesOf(
      here,
      others.map((one) => one.directory)
    )
    if (!entry.startsWith("160000 ") || !entry.endsWith(`\t${path}\0`) || taken.includes(tree)) continue
    taken = [...taken, tree]
    const draft = join(own.directory, `reprise-new-submodule-${added.length}`)
    yield* onDisk(() => removeForeign(draft))
    yield* onDisk(() => makeEmpty(draft, commit.length === 64))
    yield* insistIn(here, ["config", "--file", join(draft, "config"), "core.worktree", relative(directory, tree)])
    added.push({ directory, draft, to, seen: own.seen === own.to ? to : directory, objects: own.objects })
  }
  return added
})

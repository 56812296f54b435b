/** Makes the clone that commands see (`clonePlaces.ts`). */
import { mkdir, rename, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { readForeignFile, readForeignFolder, removeForeign } from "@reprise/process"
import { Effect } from "effect"
import type { Environment, GitRepository } from "../git/askGit.ts"
import { onDisk } from "../nested/gitSays.ts"
import { gitIn, type Here, insistIn } from "./cloneGit.ts"
import type { Clone, ClonedDirectory } from "./clonePlaces.ts"
import { type Heads, keepHeads } from "./heads.ts"

/** What a working tree has for itself, and what all of a repository share. */
const ofTree = ["HEAD", "index", "config.worktree", "info/sparse-checkout"]
const ofRepository = ["config", "shallow", "description", "info/attributes", "info/exclude"]

/** An index of a million files has 100 MB. */
const largestBytes = 1024 * 1024 * 1024

const copyIfThere = async (from: string, to: string, mode = 0o600): Promise<void> => {
  const content = await readForeignFile(from, { largestBytes, follow: true })
  if (content !== undefined) await writeFile(to, content, { mode })
}

const namesIn = async (folder: string): Promise<ReadonlyArray<string>> =>
  ((await readForeignFolder(folder, { mostEntries: 10_000 })) ?? []).map(({ name }) => name)

/** Hooks run in the sandbox, as the user's do; the examples that git puts there do not run. */
const copyHooks = async (common: string, to: string): Promise<void> => {
  const names = await namesIn(join(common, "hooks"))
  const hooks = names.filter((name) => !name.endsWith(".sample"))
  if (hooks.length === 0) return
  await mkdir(join(to, "hooks"), { recursive: true })
  for (const name of hooks) await copyIfThere(join(common, "hooks", name), join(to, "hooks", name), 0o700)
}

/** An index can be kept in two files. */
const copySharedIndexes = async (directory: string, to: string): Promise<void> => {
  const names = await namesIn(directory)
  for (const name of names.filter((one) => one.startsWith("sharedindex.")))
    await copyIfThere(join(directory, name), join(to, name))
}

/** The last one counts: a working tree may belong to a bare repository. */
const ownSettings = "\n[core]\n\tbare = false\n"

interface Ref {
  readonly name: string
  readonly hash: string
  readonly target: string
}

const refsFormat = "--format=%(refname) %(objectname) %(symref)"

/** All but the ones that Reprise keeps for itself, and those of another working tree. */
const refsOf = (here: Here) =>
  Effect.map(
    insistIn(here, ["for-each-ref", refsFormat, "refs/heads/", "refs/remotes/", "refs/tags/", "refs/stash"]),
    (text): ReadonlyArray<Ref> =>
      text
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => {
          const [name = "", hash = "", target = ""] = line.split(" ")
          return { name, hash, target }
        })
  )

/** Without the first line by which git would take them for sorted. */
const packedRefs = (refs: ReadonlyArray<Ref>): string => refs.map(({ hash, name }) => `${hash} ${name}\n`).join("")

const writeRefs = async (to: string, refs: ReadonlyArray<Ref>): Promise<void> => {
  await writeFile(join(to, "packed-refs"), packedRefs(refs.filter(({ target }) => target === "")))
  for (const { name, target } of refs.filter((one) => one.target !== "")) {
    await mkdir(dirname(join(to, name)), { recursive: true })
    await writeFile(join(to, name), `ref: ${target}\n`)
  }
}

/** `common`: the directory that all working trees of the repository share. */
const cloneDirectory = Effect.fnUntraced(function* (
  here: Here,
  common: string,
  { objects, to }: ClonedDirectory,
  isMounted: boolean
) {
  const { directory } = here
  const refs = yield* refsOf(here)
  yield* onDisk(async () => {
    for (const folder of ["info", "objects/info", "objects/pack", "refs/heads", "refs/tags"])
      await mkdir(join(to, folder), { recursive: true, mode: 0o700 })
    for (const name of ofTree) await copyIfThere(join(directory, name), join(to, name))
    for (const name of ofRepository) await copyIfThere(join(common, name), join(to, name))
    await writeFile(join(to, "config"), ownSettings, { flag: "a" })
    await copySharedIndexes(directory, to)
    await copyHooks(common, to)
    await writeFile(join(to, "objects/info/alternates"), `${objects}\n`)
    await writeRefs(to, refs)
  })
  // A submodule's is relative to its git directory; whoever finds the clone elsewhere says where the tree is.
  if (!isMounted) yield* gitIn(here, ["config", "--file", join(to, "config"), "--unset-all", "core.worktree"])
})

/** In place of one that is there. It appears whole or not at all. `directories`: of `clone`. */
export const makeClone = Effect.fn("Sandbox.makeClone")(function* (
  { common, workspace }: GitRepository,
  clone: Clone,
  directories: ReadonlyArray<ClonedDirectory>,
  heads: Heads,
  environment: Environment
) {
  const draft = `${clone.folder}.new`
  const inDraft = ({ to }: ClonedDirectory) => join(draft, to.slice(clone.folder.length))
  yield* onDisk(() => removeForeign(draft))
  for (const one of directories) {
    const { directory, seen, to } = one
    const shared = one === directories[0] ? common : directory
    yield* cloneDirectory({ workspace, environment, directory }, shared, { ...one, to: inDraft(one) }, seen !== to)
  }
  yield* onDisk(async () => {
    await removeForeign(clone.folder)
    await keepHeads(clone, heads)
    await rename(draft, clone.folder)
  })
})

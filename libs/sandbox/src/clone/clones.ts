/** The clones of a host: made before commands see them, and fetched from when commands have ended. */
import { lstat, mkdir, rename, rm, symlink } from "node:fs/promises"
import { dirname, join } from "node:path"
import { readForeignFolder, removeForeign } from "@reprise/process"
import { Effect } from "effect"
import type { Engine } from "../command/engine.ts"
import { exists } from "../disk/pathsOnDisk.ts"
import type { Environment, GitRepository } from "../git/askGit.ts"
import { gitDirectoriesOf } from "../git/gitDirectories.ts"
import { onDisk } from "../nested/gitSays.ts"
import type { Mount } from "../policy/mounts.ts"
import {
  annex,
  type Clone,
  type ClonedDirectory,
  type CloneOf,
  cloneAt,
  clonedDirectories,
  cloneMounts,
  emptySuffix,
  largeFiles,
  recordSuffix
} from "./clonePlaces.ts"
import { fetchClone, headOf } from "./fetchClone.ts"
import { branchIn, type Head, headIn, headsOf, isSameHead, keepHeads } from "./heads.ts"
import { takeLargeFiles } from "./largeFiles.ts"
import { makeClone } from "./makeClone.ts"
import { newSubmodules } from "./newSubmodules.ts"
import { updateClone } from "./updateClone.ts"

export interface PlacedClone {
  readonly clone: Clone
  readonly directories: ReadonlyArray<ClonedDirectory>
  readonly mounts: ReadonlyArray<Mount>
}

/** `folder`: of all clones. */
export const placeClone = async (
  folder: string,
  git: GitRepository,
  { engine, id, of }: { readonly engine: Engine; readonly id: string; readonly of: CloneOf }
): Promise<PlacedClone> => {
  const clone = cloneAt(folder, id, of)
  const { repositories } = await gitDirectoriesOf(git)
  const directories = clonedDirectories(git, repositories, clone, engine)
  return { clone, directories, mounts: cloneMounts(git, directories, clone, exists) }
}

/** Where the refs of a cloned directory are. */
const commonOf = ({ common, directory }: GitRepository, one: string) => (one === directory ? common : one)

const makeNew = Effect.fnUntraced(function* (
  git: GitRepository,
  { clone, directories }: PlacedClone,
  environment: Environment
) {
  const { workspace } = git
  yield* onDisk(() => mkdir(dirname(clone.folder), { recursive: true, mode: 0o700 }))
  const heads = yield* Effect.forEach(directories, ({ directory }) =>
    Effect.map(headOf({ workspace, directory, environment }), (head) => [directory, head] as const)
  )
  yield* makeClone(git, clone, directories, Object.fromEntries(heads), environment)
})

/** An agent's stays as it is; a gate's is a new one each time. */
export const readyClone = Effect.fn("Sandbox.readyClone")(function* (
  git: GitRepository,
  placed: PlacedClone,
  environment: Environment
) {
  const { clone, directories } = placed
  if (clone.of !== "agent" || !exists(clone.folder) || !exists(clone.record)) yield* makeNew(git, placed, environment)
  // A mount needs a folder, and not where a link of a command's leads; by a link, commands read what is there and add nothing.
  const isMounted = directories.some(({ seen, to }) => seen !== to)
  const at = join(clone.folder, annex)
  yield* onDisk(async () => {
    if (!exists(join(git.common, annex))) return
    await mkdir(`${clone.folder}${emptySuffix}`, { recursive: true, mode: 0o700 })
    const found = await lstat(at).catch(() => undefined)
    if (isMounted && found?.isDirectory() !== true) {
      await removeForeign(at)
      await mkdir(at, { mode: 0o700 })
    }
    if (!isMounted && found === undefined) await symlink(join(git.common, annex), at)
  })
})

export const removeClone = async (clone: Pick<Clone, "folder" | "record">): Promise<void> => {
  await rm(clone.record, { force: true })
  await removeForeign(clone.folder)
  await removeForeign(`${clone.folder}${emptySuffix}`)
}

/** Of repositories and worktrees that are gone. `folder`: of all clones. */
export const removeUnusedClones = async (folder: string): Promise<void> => {
  const entries = await readForeignFolder(folder, { mostEntries: 100_000 })
  for (const { name } of entries ?? []) {
    if (!name.endsWith(recordSuffix)) continue
    const clone = { folder: join(folder, name.slice(0, -recordSuffix.length)), record: join(folder, name) }
    const [directory] = Object.keys((await headsOf(clone)) ?? {})
    if (directory === undefined || !exists(directory)) await removeClone(clone)
  }
}

/** The git directories in which a clone has something that the repository has not. Undefined: there is no clone. */
export const newsOf = async ({ clone, directories }: Pick<PlacedClone, "clone" | "directories">) => {
  const heads = await headsOf(clone)
  if (heads === undefined) return undefined
  const said = await Promise.all(directories.map(async ({ directory, to }) => ({ directory, head: await headIn(to) })))
  return {
    heads,
    news: said.filter(({ directory, head }) => head.commit !== "" && !isSameHead(head, heads[directory]))
  }
}

const none: Head = { head: "", commit: "" }

/** Takes what authors committed into the repository. Of submodules first, whose commits those of the repository name. */
export const takeNews = Effect.fn("Sandbox.takeNews")(function* (
  git: GitRepository,
  placed: Pick<PlacedClone, "clone" | "directories">,
  inSandbox: string,
  environment: Environment
) {
  const found = yield* onDisk(() => newsOf(placed))
  if (found === undefined) return
  let heads = found.heads
  const { workspace } = git
  if (found.news.length > 0)
    yield* onDisk(() => takeLargeFiles(join(placed.clone.folder, largeFiles), join(git.common, largeFiles)))
  for (const { directory, head } of found.news.toReversed()) {
    const seen = placed.directories.find((one) => one.directory === directory)?.seen ?? directory
    const objects = join(commonOf(git, directory), "objects")
    const fetching = { workspace, directory, seen, objects, environment, inSandbox }
    const both = yield* fetchClone(fetching, head, heads[directory] ?? none)
    heads = { ...heads, [directory]: both }
    const [own, ...others] = placed.directories
    const added =
      own?.directory === directory
        ? yield* newSubmodules({ workspace, directory, environment }, own, others, both.commit)
        : []
    for (const { directory: place, draft, seen: at, to } of added) {
      const said = yield* onDisk(() => headIn(to))
      const inDraft = { ...fetching, directory: draft, seen: at, objects: join(draft, "objects") }
      const now = yield* fetchClone(inDraft, said, none)
      yield* onDisk(async () => {
        await mkdir(dirname(place), { recursive: true })
        await rename(draft, place)
      })
      heads = { ...heads, [place]: now }
    }
    yield* onDisk(() => keepHeads(placed.clone, heads))
  }
})

/** What the user committed since an author's last turn, it finds in its clone, unless it left something there that could not be taken. */
export const followRepository = Effect.fn("Sandbox.followRepository")(function* (
  git: GitRepository,
  placed: PlacedClone,
  inSandbox: Effect.Effect<string, Error>,
  environment: Environment
) {
  const found = yield* onDisk(() => newsOf(placed))
  if (found === undefined) return
  let heads = found.heads
  for (const { directory, seen } of placed.directories) {
    const own = yield* onDisk(() => headIn(directory, commonOf(git, directory)))
    const last = heads[directory]
    const hasNews = found.news.some((one) => one.directory === directory)
    if (hasNews || last === undefined || own.commit === "" || isSameHead(own, last)) continue
    const { workspace } = git
    yield* updateClone({ workspace, directory, seen, environment, inSandbox: yield* inSandbox }, last, own)
    const branches = [...new Set([...(last.branches ?? []), branchIn(last.head) ?? "", branchIn(own.head) ?? ""])]
    heads = { ...heads, [directory]: { ...own, branches } }
    yield* onDisk(() => keepHeads(placed.clone, heads))
  }
})

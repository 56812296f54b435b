/**
 * Commands see a clone in the place of the repository's git directory. They write into the clone alone, and Reprise fetches from it
 * what they committed, as from a server that nobody trusts (docs/design/workspace.md#the-clone). Seatbelt has no mounts: there the git
 * on the `PATH` of commands goes to the clone (`gitOfCommands`). Pure.
 */
import { dirname, join, relative } from "node:path"
import type { Engine } from "../command/engine.ts"
import type { GitRepository } from "../git/askGit.ts"
import { isWithin, type Mount } from "../policy/mounts.ts"

/** `agent`: that of authors, which stays for their next turn. A quality gate's is a new one each time, and what is committed in it is lost. */
export type CloneOf = "agent" | "gate"

export interface Clone {
  /** What commands see as the git directory of the working tree. */
  readonly folder: string
  /** What Reprise last fetched from it, beside it: no command sees that. */
  readonly record: string
  readonly of: CloneOf
}

export const recordSuffix = ".json"
/** An empty folder beside a clone, which no command sees but by its mount. */
export const emptySuffix = ".empty"

export const cloneAt = (clones: string, id: string, of: CloneOf): Clone => {
  const folder = join(clones, of === "agent" ? id : `${id}-${of}`)
  return { folder, record: `${folder}${recordSuffix}`, of }
}

/** Where commands find the objects of the repository, which they read, in a mount; `/run` is their own. */
const objectsAt = (index: number) => `/run/reprise/objects-${index}`

/** Files of git-annex, which commands read. */
export const annex = "annex"

/** Files of Git LFS: a clone has a folder of its own, and git-lfs looks beside borrowed objects for those of the repository. */
export const largeFiles = "lfs"

/** Passwords that git-annex keeps. */
export const annexKeys = "annex/creds"

/** A git directory of the working tree: its own, and those of its submodules. */
export interface ClonedDirectory {
  readonly directory: string
  /** Where its clone is. */
  readonly to: string
  /** Where commands find the clone. */
  readonly seen: string
  /** Where commands find its objects. */
  readonly objects: string
}

/** `repositories`: all of the repository, those of submodules among them (`gitDirectoriesOf`). */
export const clonedDirectories = (
  { common, directory }: GitRepository,
  repositories: ReadonlyArray<string>,
  { folder }: Clone,
  engine: Engine
): ReadonlyArray<ClonedDirectory> => {
  const modules = join(directory, "modules")
  const inTree = repositories.filter((one) => one !== directory && isWithin(one, modules))
  return [directory, ...inTree].map((one, index) => {
    const to = join(folder, relative(directory, one))
    const own = join(one === directory ? common : one, "objects")
    return engine === "seatbelt"
      ? { directory: one, to, seen: to, objects: own }
      : { directory: one, to, seen: one, objects: objectsAt(index) }
  })
}

/** `present`: which of the shared folders exist. */
export const cloneMounts = (
  { common, directory }: GitRepository,
  directories: ReadonlyArray<ClonedDirectory>,
  { folder }: Clone,
  present: (path: string) => boolean
): ReadonlyArray<Mount> => {
  const sees = directories.some(({ seen, to }) => seen !== to)
  if (!sees)
    return [...[common, directory].map((path): Mount => ({ path, as: "readable" })), { path: folder, as: "writable" }]
  return [
    // Of a worktree, that of the repository is around it.
    ...(common === directory ? [] : [{ path: common, as: "readable" } as const]),
    { path: directory, as: "writable", from: folder },
    ...directories.map(
      ({ directory: one, objects }, index): Mount => ({
        path: objects,
        as: "readable",
        from: join(index === 0 ? common : one, "objects")
      })
    ),
    ...[
      { path: join(directory, annex), from: join(common, annex) },
      { path: join(dirname(objectsAt(0)), largeFiles), from: join(common, largeFiles) }
    ]
      .filter(({ from }) => present(from))
      .map((one): Mount => ({ ...one, as: "readable" })),
    // Those of the repository are hidden by their own path; what is seen here is an empty folder.
    ...[annexKeys]
      .filter((name) => common !== directory && present(join(common, name)))
      .map((name): Mount => ({ path: join(directory, name), as: "readable", from: `${folder}${emptySuffix}` }))
  ]
}

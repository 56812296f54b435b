/** What a command in a workspace may write, read and reach (docs/design/workspace.md#sandbox). Pure. */
import type { Role } from "@reprise/protocol"
import { cacheVariables } from "../caches/cacheRules.ts"
import { commandFiles } from "./commandFiles.ts"
import { fixed } from "./fixedMounts.ts"
import { isWithin, type Mount, ordered, seenIn } from "./mounts.ts"

/** The section `sandbox` of the configuration. Paths are absolute, or begin with `~/`, or are relative to the root. */
export interface SandboxSettings {
  readonly write: ReadonlyArray<string>
  readonly read: ReadonlyArray<string>
  readonly deny: ReadonlyArray<string>
  readonly network: ReadonlyArray<string>
}

/** What the disk says about a workspace. Every path is real: no links in it. */
export interface Surroundings {
  /** undefined: there is none. */
  readonly home: string | undefined
  readonly workspace: string
  /** `.reprise` of the repository: passwords, journals, other worktrees. */
  readonly stateDirectory: string
  /** The folder that a command sees as `/tmp`. */
  readonly temporary: string
  /**
   * Where package managers keep what they have fetched, as a command sees it, and the folder that it sees there; absent: the
   * same. The user's own caches would be obeyed outside of the sandbox later.
   */
  readonly caches: string
  readonly cachesFrom?: string
  /** Where files go that a command may not make. */
  readonly refused: string
  readonly git: GitPlaces | undefined
  /** What exists of the paths that must not be read: credentials, and the `deny` of the settings. */
  readonly hidden: ReadonlyArray<Found>
  /** Folders in which something is hidden that somebody may replace. */
  readonly listed: ReadonlyArray<ListedFolder>
  /** What exists of the settings' `write` and `read`. */
  readonly write: ReadonlyArray<string>
  readonly read: ReadonlyArray<string>
  /** Where settings of the user's programs lead, and programs themselves, that commands could write, whether something is there or not. */
  readonly startup: ReadonlyArray<string>
  /** What exists in the workspace of the files that bear commands, and of `startup`. */
  readonly commandFiles: ReadonlyArray<string>
  readonly anchors: Anchors
  /** What exists of `keptPaths`, a link too. */
  readonly present: ReadonlyArray<string>
  /** Sockets that a program of this machine listens on. */
  readonly sockets: ReadonlyArray<string>
  readonly registries: ReadonlyArray<string>
  /** Of an agent that runs inside as a whole. Real, and `kept` without patterns. */
  readonly own?: Pick<OwnPlaces, "kept" | "network"> & {
    readonly apart: ReadonlyArray<{ readonly path: string; readonly from: string }>
  }
}

/** What an agent needs that runs inside as a whole, besides what its commands may touch. Absolute paths. */
export interface OwnPlaces {
  /** Folders of its state, which exist. */
  readonly write: ReadonlyArray<string>
  /** Credentials and other files that it reads. */
  readonly read: ReadonlyArray<string>
  /**
   * Below `write`: what it runs or obeys when it is started outside. Read only; one that does not exist must not appear. `*` in the
   * last name stands for what exists.
   */
  readonly kept: ReadonlyArray<string>
  /** Below `write`: likewise, but folders that it has to write itself. It sees one of its own in the place of each. */
  readonly apart: ReadonlyArray<string>
  /** Names that it reaches in every role, such as that of its model's vendor. */
  readonly network: ReadonlyArray<string>
}

export interface Found {
  readonly path: string
  readonly kind: "file" | "folder"
}

export interface GitPlaces {
  /** Of this working tree, and of the repository; the same unless it is a worktree of another. */
  readonly directory: string
  readonly common: string
  /** `.git` of a worktree or submodule: a file that names the directory. */
  readonly pointer?: string
  /** What every git of this machine would obey outside of these, whether it exists or not: what the configuration names. */
  readonly obeyed: ReadonlyArray<string>
  /** What exists of it. Real. */
  readonly executable: ReadonlyArray<string>
  /** What commands see in the place of both directories; absent: the directories themselves, which they read. */
  readonly clone?: ReadonlyArray<Mount>
}

export interface Link {
  readonly path: string
  readonly target: string
}

/** What protected paths stand on, where a command could write it. */
export interface Anchors {
  /** Folders that must stay where they are. */
  readonly folders: ReadonlyArray<string>
  readonly links: ReadonlyArray<Link>
  /** What a link leads to and does not exist. */
  readonly missing: ReadonlyArray<string>
}

/** A folder of which a command sees these entries alone; `target`: of a link. */
export interface ListedFolder {
  readonly path: string
  readonly entries: ReadonlyArray<{ readonly name: string; readonly target?: string }>
}

export interface Policy {
  readonly workspace: string
  /** The git directory of its repository. */
  readonly git?: string
  /** Parents before their children. */
  readonly mounts: ReadonlyArray<Mount>
  /** Folders that are read only, of which not all is seen. */
  readonly listed: ReadonlyArray<ListedFolder>
  /** Files that stay as they are. One that does not exist must not be made; a command's is put in the folder. */
  readonly kept: ReadonlyArray<string>
  /** Those of them that were there when the policy was made. */
  readonly present: ReadonlyArray<string>
  /** What is read only in places that can be written: if its mount ended, a command could write it. */
  readonly guarded: ReadonlyArray<string>
  /** Links that stay as they are: one that a command changed is put back. */
  readonly links: ReadonlyArray<Link>
  readonly refused: string
  /** Nobody but Reprise writes there. */
  readonly stateDirectory: string
  /** What it sees as `/tmp`. */
  readonly temporary: string
  /** Names that can be reached, `*.example.org` and `name:port` included. */
  readonly network: ReadonlyArray<string>
  /** Variables that are set. */
  readonly environment: Readonly<Record<string, string>>
}

/** Folders whose whole content belongs to other programs of this machine, their sockets among it. */
const machineFolders = ["/run", "/tmp", "/var/tmp"]

/** What a path is for a command: the last mount at or above it; undefined: it can be read. */
export const seenAs = ({ mounts }: Policy, path: string): Mount | undefined => seenIn(mounts, path)

/** No command writes git's directories. */
const gitMounts = (git: GitPlaces | undefined): ReadonlyArray<Mount> =>
  git === undefined
    ? []
    : (git.clone ?? [...new Set([git.common, git.directory])].map((path): Mount => ({ path, as: "readable" })))

export const isOfGit = (path: string, git: Pick<GitPlaces, "common" | "directory"> | undefined): boolean =>
  git !== undefined && [git.common, git.directory].some((one) => isWithin(path, one))

/**
 * In a workspace, git takes a folder with these for a repository as soon as `.git` is none. Each of them is needed, and this
 * one is in nobody's way.
 */
const bareRepository = "HEAD"

/** Without those in which a command writes anyway: each mount is one more that has to stay where it is. */
const withWritable = (mounts: ReadonlyArray<Mount>, write: ReadonlyArray<string>): ReadonlyArray<Mount> => {
  let all = ordered(mounts)
  for (const path of [...new Set(write)].sort()) {
    const seen = seenIn(all, path)
    if (seen?.as !== "writable" || seen.from !== undefined) all = ordered([...all, { path, as: "writable" }])
  }
  return all
}

/** Only where a command could write without it: elsewhere such a mount would show what is hidden. */
const protecting = (paths: ReadonlyArray<string>, mounts: ReadonlyArray<Mount>): ReadonlyArray<Mount> =>
  [...new Set(paths)].flatMap((path): ReadonlyArray<Mount> => {
    const seen = seenIn(mounts, path)
    return seen?.as === "writable" && seen.from === undefined ? [{ path, as: "readable" }] : []
  })

const couldWriteIn = ({ workspace, write }: Pick<Surroundings, "workspace" | "write">) => {
  const writable = [workspace, ...write]
  return (path: string) => writable.some((folder) => isWithin(path, folder))
}

/** Files that stay as they are, whether they exist or not. */
export const keptPaths = (
  around: Pick<Surroundings, "anchors" | "git" | "own" | "startup" | "workspace" | "write">
): ReadonlyArray<string> => {
  const { anchors, git, own, startup, workspace } = around
  const couldWrite = couldWriteIn(around)
  return [
    ...new Set([
      ...[...commandFiles, bareRepository].map((name) => `${workspace}/${name}`),
      ...[...(git?.obeyed ?? []), ...anchors.missing].filter(couldWrite),
      ...startup,
      ...(own?.kept ?? [])
    ])
  ]
}

/** Where a command may write, new files must be those of the machine; and what is hidden whole needs no list. */
const listedIn = (mounts: ReadonlyArray<Mount>, { listed }: Surroundings): ReadonlyArray<ListedFolder> =>
  listed.filter(({ path }) => {
    const seen = mounts.findLast((mount) => isWithin(path, mount.path))
    return seen === undefined || (seen.as === "readable" && seen.from === undefined)
  })

/** A reviewer reaches nothing, but for what its agent needs itself: it only reads. */
export const policyFor = (around: Surroundings, settings: SandboxSettings, role: Role): Policy => {
  const { caches, cachesFrom, git, home, read, stateDirectory, temporary, workspace } = around
  const kept = keptPaths(around)
  const present = new Set(around.present)
  const inMachineFolder = (path: string) => machineFolders.some((folder) => isWithin(path, folder))
  const always: ReadonlyArray<Mount> = [
    // A home in a folder of the machine would disappear with it.
    ...(home !== undefined && home !== workspace && inMachineFolder(home)
      ? [{ path: home, as: "readable" } as const]
      : []),
    { path: workspace, as: "writable" },
    { path: caches, as: "writable", ...(cachesFrom === undefined ? {} : { from: cachesFrom }) },
    ...read.map((path): Mount => ({ path, as: "readable" })),
    ...gitMounts(git)
  ]
  const write = around.write.filter((path) => !isOfGit(path, git))
  const shownAgain = [...always, ...write.map((path): Mount => ({ path, as: "writable" }))]
  const isVisible = (path: string) => !inMachineFolder(path) || shownAgain.some((one) => isWithin(path, one.path))
  const found: ReadonlyArray<Found> = [
    ...around.hidden.filter(({ path }) => !read.some((one) => isWithin(path, one))),
    ...around.sockets.map((path): Found => ({ path, kind: "file" }))
  ]
  // A worktree lies in the folder of the state, and is shown again.
  const isInHiddenState = (path: string) =>
    isWithin(path, stateDirectory) &&
    !shownAgain.some((one) => isWithin(one.path, stateDirectory) && isWithin(path, one.path))
  const folders = found.flatMap(({ kind, path }) => (kind === "folder" ? [path] : []))
  const hidden = found
    .filter(({ path }) => isVisible(path) && !isInHiddenState(path))
    // What lies in a hidden folder is hidden with it.
    .filter(({ path }) => !folders.some((folder) => path !== folder && isWithin(path, folder)))
    .map(({ kind, path }): Mount => ({ path, as: kind === "file" ? "hidden-file" : "hidden-folder" }))
  const own: ReadonlyArray<Mount> = [
    { path: "/tmp", as: "writable", from: temporary },
    { path: "/var/tmp", as: "writable", from: temporary },
    ...always,
    { path: stateDirectory, as: "hidden-folder" },
    ...hidden
  ]
  const mounts = withWritable(own, write)
  const protectedFiles = [
    ...around.commandFiles,
    ...(git === undefined ? [] : git.executable),
    ...(git?.pointer === undefined ? [] : [git.pointer])
  ]
  const apart = (around.own?.apart ?? []).map((one): Mount => ({ ...one, as: "writable" }))
  const inOrder = fixed([...mounts, ...protecting(protectedFiles, mounts), ...apart], around.anchors.folders)
  return {
    workspace,
    ...(git === undefined ? {} : { git: git.common }),
    mounts: inOrder,
    listed: listedIn(inOrder, around),
    kept,
    present: kept.filter((path) => present.has(path)),
    guarded: [...around.commandFiles, ...(git?.executable ?? []).filter(couldWriteIn(around))],
    links: around.anchors.links,
    refused: around.refused,
    stateDirectory,
    temporary,
    network: [
      ...new Set([
        ...(role === "author" ? [...settings.network, ...around.registries] : []),
        ...(around.own?.network ?? [])
      ])
    ].sort(),
    // They see objects as they are, as Reprise's git does.
    environment: {
      TMPDIR: "/tmp",
      TEMP: "/tmp",
      TMP: "/tmp",
      REPRISE_SANDBOX: "1",
      GIT_NO_REPLACE_OBJECTS: "1",
      ...(git !== undefined && git.clone === undefined ? { GIT_OPTIONAL_LOCKS: "0" } : {}),
      ...cacheVariables(caches)
    }
  }
}

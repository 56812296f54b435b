/**
 * Locks of git that a killed process left: git waits for none of them, and fails. It has no command that removes them, since it
 * does not know whose they are.
 */
import { chmod, lstat, mkdir, readdir, readFile, readlink, rename, stat } from "node:fs/promises"
import { join } from "node:path"
import { Clock, Effect } from "effect"
import { hasCode } from "./files.ts"
import { readForeignFolder } from "./foreignFile.ts"

/** Where a git works that can own locks of a repository. Absolute. */
export interface LockPlaces {
  /** The directory of the repository, in which those of worktrees and submodules are. */
  readonly common: string
  readonly workTrees: ReadonlyArray<string>
}

export interface GitProcess {
  readonly pid: number
  readonly command: string
}

export interface GitLock {
  readonly path: string
  /** A program that has it open, or a git that works here. */
  readonly holder?: GitProcess
  /** Whether nobody can own it. */
  readonly isAbandoned: boolean
}

interface LockFile {
  readonly path: string
  readonly inode: number
  /** Whose it is: whoever made it. */
  readonly user: number
  readonly modifiedMs: number
  /** git makes a file: a folder or a link of that name is somebody's trick, and only in the way. */
  readonly isFile: boolean
}

/** What a process shows of itself; absent: it does not show it to this user. */
export interface ShownProcess extends GitProcess {
  /** The name of its program. */
  readonly name: string
  readonly user: number
  readonly folder?: string
  /** The locks among its open files. */
  readonly open?: ReadonlyArray<string | undefined>
}

/** A process that makes a lock may be one that this machine does not show, such as a container's. It has this long. */
const quietMs = 10_000

const isGit = ({ name }: ShownProcess) => /^git(-|$)/.test(name)

const isBelow = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`)

/**
 * Who may own a lock: git closes the file while an editor or a hook runs, so any git of its user counts that works there, and
 * one that does not show where it works. Of a process that is not git, only an open file tells. Pure.
 */
export const holderOf = (
  { path, user }: Pick<LockFile, "path" | "user">,
  { common, workTrees }: LockPlaces,
  processes: ReadonlyArray<ShownProcess>
): GitProcess | undefined => {
  const found = processes.find(
    (one) =>
      one.open?.includes(path) === true ||
      (isGit(one) &&
        one.user === user &&
        (one.folder === undefined || [common, ...workTrees].some((place) => isBelow(one.folder ?? "", place))))
  )
  return found === undefined ? undefined : { pid: found.pid, command: found.command }
}

/** `processes`: undefined where the system shows none: then nobody knows. A time to come was set by somebody. Pure. */
export const isAbandoned = (
  { isFile, modifiedMs, ...lock }: Pick<LockFile, "isFile" | "modifiedMs" | "path" | "user">,
  places: LockPlaces,
  processes: ReadonlyArray<ShownProcess> | undefined,
  nowMs: number
): boolean =>
  !isFile ||
  (processes !== undefined &&
    holderOf(lock, places, processes) === undefined &&
    (modifiedMs > nowMs || nowMs - modifiedMs >= quietMs))

/** What a folder is: git's directory, one of objects, of worktrees or of submodules, or one in which git makes locks everywhere. */
type Kind = "git" | "objects" | "worktrees" | "modules" | "locks"

const ofGit: Readonly<Record<string, Kind>> = {
  ...Object.fromEntries(
    ["refs", "reftable", "info", "sequencer", "rebase-merge", "rebase-apply"].map((name) => [name, "locks" as const])
  ),
  objects: "objects",
  worktrees: "worktrees",
  modules: "modules"
}

/** Files, of which there may be many, none of them a lock of git's; other tools have folders of their own as well. */
const withoutLocks: ReadonlySet<string> = new Set(["hooks", "lfs", "logs"])

const kindBelow = (kind: Kind, name: string): Kind | undefined => {
  switch (kind) {
    case "git":
      return Object.hasOwn(ofGit, name) ? ofGit[name] : undefined
    case "objects":
      return name === "info" || name === "pack" ? "locks" : undefined
    case "worktrees":
      return "git"
    // Folders of a submodule's name, and its directory.
    case "modules":
      return withoutLocks.has(name) ? undefined : (kindBelow("git", name) ?? "modules")
    case "locks":
      return "locks"
  }
}

const deepest = 24
/** More are nobody's repository. */
const mostEntries = 1_000_000

const unlessGone = (error: unknown) =>
  hasCode(error, "ENOENT", "ENOTDIR", "EACCES", "EPERM", "ESRCH") ? undefined : Promise.reject(error)

const lockFiles = async (folder: string, kind: Kind = "git", depth = 0): Promise<ReadonlyArray<LockFile>> => {
  const entries = (await readForeignFolder(folder, { mostEntries }).catch(unlessGone)) ?? []
  const found = entries.map(async (entry): Promise<ReadonlyArray<LockFile>> => {
    const path = join(folder, entry.name)
    const isLock = entry.name.endsWith(".lock")
    // A worktree or a submodule may be called so; a branch may not.
    if (entry.isDirectory() && !(isLock && (kind === "git" || kind === "locks"))) {
      const below = depth < deepest ? kindBelow(kind, entry.name) : undefined
      return below === undefined ? [] : await lockFiles(path, below, depth + 1)
    }
    if (!isLock) return []
    const file = await lstat(path).catch(unlessGone)
    if (file === undefined) return []
    return [{ path, inode: file.ino, user: file.uid, modifiedMs: file.mtimeMs, isFile: file.isFile() }]
  })
  return (await Promise.all(found)).flat()
}

const isNotShown = (error: unknown) => hasCode(error, "EACCES", "EPERM")

/** No path. */
const gone = ""
const goneOr = (error: unknown) => (hasCode(error, "ENOENT", "ESRCH") ? gone : Promise.reject(error))

const textOf = async (path: string) => (await readFile(path, "utf8").catch(unlessGone)) ?? ""

/** What each process has open is asked only where there is a lock. */
const shownProcess = async (pid: number): Promise<ReadonlyArray<ShownProcess>> => {
  const at = join("/proc", `${pid}`)
  const name = (await textOf(join(at, "comm"))).trimEnd()
  if (name === "") return []
  const command = (await textOf(join(at, "cmdline"))).split("\0").join(" ").trim().slice(0, 200)
  const user = (await stat(at).catch(unlessGone))?.uid
  const folder = await readlink(join(at, "cwd")).catch((error) => (isNotShown(error) ? undefined : goneOr(error)))
  // It has ended meanwhile, or only waits to be reaped.
  if (user === undefined || folder === gone) return []
  const numbers = await readdir(join(at, "fd")).catch(unlessGone)
  const open = await Promise.all((numbers ?? []).map((one) => readlink(join(at, "fd", one)).catch(unlessGone)))
  return [
    {
      ...{ pid, name, user, command: command === "" ? name : command },
      ...(folder === undefined ? {} : { folder }),
      ...(numbers === undefined ? {} : { open: open.filter((path) => path?.endsWith(".lock") === true) })
    }
  ]
}

/** Undefined: this system has no `/proc`. */
const shownProcesses = async (): Promise<ReadonlyArray<ShownProcess> | undefined> => {
  const names = await readdir("/proc").catch(unlessGone)
  const pids = (names ?? []).filter((name) => /^\d+$/.test(name)).map(Number)
  if (pids.length === 0) return undefined
  return (await Promise.all(pids.filter((pid) => pid !== process.pid).map(shownProcess))).flat()
}

const withHolders = async (
  files: ReadonlyArray<LockFile>,
  places: LockPlaces,
  nowMs: number
): Promise<ReadonlyArray<GitLock & LockFile>> => {
  // After the locks were found: whoever starts from now on does not own them.
  const processes = await shownProcesses()
  return files.map((file) => {
    const holder = holderOf(file, places, processes ?? [])
    return {
      ...file,
      isAbandoned: isAbandoned(file, places, processes, nowMs),
      ...(holder === undefined ? {} : { holder })
    }
  })
}

/** A name has at most 255 bytes, one of these characters up to three. */
const longestName = 60

const moveAside = async (
  { inode, isFile, path }: LockFile,
  { common }: LockPlaces,
  prefix: string
): Promise<string | undefined> => {
  // Its owner may have ended meanwhile, and another one have made it again.
  const found = await lstat(path).catch(unlessGone)
  if (found?.ino !== inode) return undefined
  const folder = join(common, "reprise-left")
  await mkdir(folder, { recursive: true })
  if (!(await lstat(folder)).isDirectory()) throw new Error(`${folder} is a link. Remove it.`)
  // One that its owner may not write cannot be moved.
  if (!isFile && found.isDirectory()) await chmod(path, 0o700)
  const name = path.slice(common.length + 1).replaceAll("/", "-")
  const to = join(folder, `${prefix}-${[...name].slice(-longestName).join("")}`)
  return rename(path, to).then(() => to, unlessGone)
}

const mostLogged = 5

const logMoved = (moved: ReadonlyArray<{ readonly path: string; readonly to: string }>) =>
  Effect.forEach(
    [
      ...moved
        .slice(0, mostLogged)
        .map(({ path, to }) => `A git that was ended left the lock ${path}: moved to ${to}.`),
      ...(moved.length > mostLogged ? [`So were ${moved.length - mostLogged} more.`] : [])
    ],
    (line) => Effect.logWarning(line),
    { discard: true }
  )

/**
 * Moves the locks of a repository, its worktrees and its submodules that nobody can own into `reprise-left` of git's directory,
 * and logs some. Gives those that are left, with who holds them. Not `gc.pid`: git looks itself whether that process is alive.
 * Fails with `UnknownError` where the disk does; `workTrees` is asked only if there is a lock.
 */
export const putAsideLocks = Effect.fn("putAsideLocks")(function* <E, R>(
  common: string,
  workTrees: Effect.Effect<ReadonlyArray<string>, E, R>
) {
  const nowMs = yield* Clock.currentTimeMillis
  const files = yield* Effect.tryPromise(() => lockFiles(common))
  if (files.length === 0) return []
  const places = { common, workTrees: yield* workTrees }
  const locks = yield* Effect.tryPromise(() => withHolders(files, places, nowMs))
  const moved: Array<{ readonly path: string; readonly to: string }> = []
  const abandoned = locks.filter((one) => one.isAbandoned)
  yield* Effect.tryPromise(async () => {
    for (const [at, lock] of abandoned.entries()) {
      const to = await moveAside(lock, places, `${nowMs}-${at}`)
      if (to !== undefined) moved.push({ path: lock.path, to })
    }
  }).pipe(Effect.ensuring(Effect.suspend(() => logMoved(moved))))
  return locks
    .filter((one): boolean => !one.isAbandoned)
    .map(
      ({ holder, isAbandoned, path }): GitLock => ({
        ...{ path, isAbandoned },
        ...(holder === undefined ? {} : { holder })
      })
    )
})

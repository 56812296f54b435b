/** The command line of bubblewrap for a policy. Pure. */
import { dirname, join } from "node:path"
import type { Mount } from "../policy/mounts.ts"
import type { ListedFolder, Policy } from "../policy/policy.ts"

/** A path that is gone since the policy was made is left out: then there is nothing to show or to hide. */
const mountArguments = ({ as, from, path }: Mount): ReadonlyArray<string> => {
  switch (as) {
    case "writable":
      return from === undefined ? ["--bind-try", path, path] : ["--bind", from, path]
    case "readable":
      return from === undefined ? ["--ro-bind-try", path, path] : ["--ro-bind", from, path]
    case "hidden-file":
      return ["--ro-bind", "/dev/null", path]
    case "hidden-folder":
      return ["--tmpfs", path]
  }
}

/** Words of the command line, and the path without which they are left out. */
export interface Words {
  readonly words: ReadonlyArray<string>
  readonly needs?: string
}

const isHidden = ({ as }: Mount) => as === "hidden-file" || as === "hidden-folder"

/** What NixOS keeps in `/run`, which is empty inside. */
const programsInRun = ["/run/current-system", "/run/wrappers", "/run/opengl-driver"]

/** Where the proxy's socket is inside. */
export const proxySocket = "/run/reprise-proxy"

/**
 * Its own namespaces for users, processes, networks and mounts; no capabilities, and no way to get them in a namespace
 * below. It dies with its parent, and everything in it dies with the command.
 */
export const isolation: ReadonlyArray<string> = [
  "--unshare-user",
  "--disable-userns",
  "--unshare-ipc",
  "--unshare-pid",
  "--unshare-net",
  "--unshare-uts",
  "--unshare-cgroup-try",
  "--die-with-parent",
  "--new-session",
  "--cap-drop",
  "ALL"
]

/**
 * Around these: processes of their own, the first of which is the sandbox's bubblewrap. The kernel ends all of them with it, and
 * nothing inside can see it. Of the first process inside it can: where the system lets a program debug others of its user, a
 * command can take away from that one that it ends with its parent.
 */
export const enclosure: ReadonlyArray<string> = [
  "--unshare-user",
  "--unshare-pid",
  "--as-pid-1",
  "--die-with-parent",
  ...["--dev-bind", "/", "/"]
]

/**
 * What the machine mounts later, such as a vault or a disk, would come into the namespace that bubblewrap makes, with the rights that
 * it has outside: bubblewrap takes part in the machine's mounts, and has no option against that. In a namespace that takes no
 * part, it has nothing to pass on. `unshare` becomes bubblewrap: it is no further process.
 */
const apart: ReadonlyArray<string> = ["--user", "--map-current-user", "--mount", "--propagation", "private", "--"]

/** `isEnclosed`: whether it can be started inside of itself here. `unshare`: a path; absent: it cannot be used here. */
export interface Bubblewrap {
  readonly path: string
  readonly isEnclosed: boolean
  readonly unshare?: string
}

/** The words that come before those of a policy. `own`: options of the one that ends last. */
export const startOf = (
  { isEnclosed, path, unshare }: Bubblewrap,
  own: ReadonlyArray<string> = []
): ReadonlyArray<string> => [
  ...(unshare === undefined ? [] : [unshare, ...apart]),
  ...[path, ...own],
  ...(isEnclosed ? [...enclosure, "--", path] : [])
]

/** Whether mounts of the machine come into a namespace that is made from this one. `mounts`: as `/proc/self/mountinfo` has them. */
export const takesPart = (mounts: string): boolean =>
  mounts.split("\n").some((line) => / (shared|master):/.test(line.split(" - ", 1)[0] ?? ""))

/** Below `/proc`, what belongs to the kernel and not to a process. */
const kernelFolders = ["sys", "irq", "bus", "fs", "acpi", "scsi", "driver"].map((name) => `/proc/${name}`)

/** The file system of every sandbox, before a policy: all can be read, nothing can be written, `/run` is empty. */
export const readOnlySystem: ReadonlyArray<string> = [
  ...["--ro-bind", "/", "/"],
  ...["--dev", "/dev"],
  ...["--proc", "/proc"],
  // For root, bubblewrap leaves the kernel's settings writable: one of them names a program that the kernel runs.
  ...kernelFolders.flatMap((path) => ["--ro-bind-try", path, path]),
  ...["--tmpfs", "/run"]
]

/** An empty folder with the entries that nothing else lies on. */
const listArguments = ({ entries, path }: ListedFolder, covered: ReadonlySet<string>): ReadonlyArray<string> => [
  ...["--tmpfs", path],
  ...entries.flatMap(({ name, target }) => {
    const at = join(path, name)
    if (covered.has(at)) return []
    return target === undefined ? ["--ro-bind-try", at, at] : ["--symlink", target, at]
  })
]

/** What is hidden and left out of a list needs no mount, which would end; unless it is also shown, by another mount. */
const isLeftOut = (mount: Mount, mounts: ReadonlyArray<Mount>, listed: ReadonlyArray<ListedFolder>): boolean =>
  isHidden(mount) &&
  listed.some(({ path }) => path === dirname(mount.path)) &&
  !mounts.some((other) => other.path === mount.path && !isHidden(other))

const mountWords = (mounts: ReadonlyArray<Mount>, listed: ReadonlyArray<ListedFolder>): ReadonlyArray<Words> => {
  const covered = new Set([...mounts.filter(isHidden), ...listed].map(({ path }) => path))
  const own = mounts
    .filter((mount) => !isLeftOut(mount, mounts, listed))
    .map((mount) => ({
      path: mount.path,
      words: { words: mountArguments(mount), ...(isHidden(mount) ? { needs: mount.path } : {}) }
    }))
  const ofLists = listed.map((one) => ({ path: one.path, words: { words: listArguments(one, covered) } }))
  // Those above come first; of two for one path the list last, which is seen through the other. Sorting keeps that order.
  return [...own, ...ofLists]
    .toSorted((a, b) => (a.path === b.path ? 0 : `${a.path}/` < `${b.path}/` ? -1 : 1))
    .map(({ words }) => words)
}

/** Everything before the command. `proxy`: the socket of this host's proxy, if anything may be reached. */
export const bubblewrapArguments = ({ listed, mounts }: Policy, proxy?: string): ReadonlyArray<Words> => [
  { words: [...isolation, ...readOnlySystem] },
  { words: programsInRun.flatMap((path) => ["--ro-bind-try", path, path]) },
  { words: proxy === undefined ? [] : ["--bind", proxy, proxySocket] },
  ...mountWords(mounts, listed),
  // Their own mount points are in them by now.
  ...mounts.flatMap((mount) =>
    mount.as === "hidden-folder" && !isLeftOut(mount, mounts, listed)
      ? [{ words: ["--remount-ro", mount.path], needs: mount.path }]
      : []
  ),
  ...listed.map(({ path }) => ({ words: ["--remount-ro", path] }))
]

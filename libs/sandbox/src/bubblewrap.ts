/** The command line of bubblewrap for a policy. Pure. */
import type { Mount, Policy } from "./policy.ts"

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

/** Everything before the command. `proxy`: the socket of this host's proxy, if anything may be reached. */
export const bubblewrapArguments = ({ mounts }: Policy, proxy?: string): ReadonlyArray<Words> => [
  { words: [...isolation, ...readOnlySystem] },
  { words: programsInRun.flatMap((path) => ["--ro-bind-try", path, path]) },
  { words: proxy === undefined ? [] : ["--bind", proxy, proxySocket] },
  ...mounts.map((mount) => ({
    words: mountArguments(mount),
    ...(isHidden(mount) ? { needs: mount.path } : {})
  })),
  // Their own mount points are in them by now.
  ...mounts.flatMap(({ as, path }) => (as === "hidden-folder" ? [{ words: ["--remount-ro", path], needs: path }] : []))
]

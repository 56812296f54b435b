/** The command line of bubblewrap for a policy. Pure. */
import type { Mount, Policy } from "./policy.ts"

const mountArguments = ({ as, from, path }: Mount): ReadonlyArray<string> => {
  switch (as) {
    case "writable":
      return ["--bind", from ?? path, path]
    case "readable":
      return ["--ro-bind", from ?? path, path]
    case "hidden-file":
      return ["--ro-bind", "/dev/null", path]
    case "hidden-folder":
      return ["--tmpfs", path]
  }
}

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

/** The file system of every sandbox, before a policy: all can be read, nothing can be written, `/run` is empty. */
export const readOnlySystem: ReadonlyArray<string> = [
  ...["--ro-bind", "/", "/"],
  ...["--dev", "/dev"],
  ...["--proc", "/proc"],
  ...["--tmpfs", "/run"]
]

/** Everything before the command. `proxy`: the socket of this host's proxy, if anything may be reached. */
export const bubblewrapArguments = (policy: Policy, proxy?: string): ReadonlyArray<string> => [
  ...isolation,
  ...readOnlySystem,
  ...programsInRun.flatMap((path) => ["--ro-bind-try", path, path]),
  ...(proxy === undefined ? [] : ["--bind", proxy, proxySocket]),
  ...policy.mounts.flatMap(mountArguments),
  // Their own mount points are in them by now.
  ...policy.mounts.flatMap(({ as, path }) => (as === "hidden-folder" ? ["--remount-ro", path] : []))
]

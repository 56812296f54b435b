/** What the disk says about a workspace, for `policyFor`. Reads only. */
import { readdir, readFile, realpath, stat } from "node:fs/promises"
import { homedir } from "node:os"
import { dirname, isAbsolute, join, resolve } from "node:path"
import { credentialPaths } from "./credentials.ts"
import { type Found, type GitPlaces, type SandboxSettings, type Surroundings, steering } from "./policy.ts"
import { registriesFor } from "./registries.ts"

type Environment = Readonly<Record<string, string | undefined>>

export interface Whereabouts {
  readonly workspace: string
  readonly stateDirectory: string
  readonly home: string
  readonly environment: Environment
  readonly temporary: string
  readonly caches: string
  readonly refused: string
}

/** Real paths, so that a mount lies on what a link leads to; undefined for what does not exist. */
const find = async (path: string): Promise<Found | undefined> => {
  try {
    const real = await realpath(path)
    return { path: real, kind: (await stat(real)).isDirectory() ? "folder" : "file" }
  } catch {
    return undefined
  }
}

const findAll = async (paths: ReadonlyArray<string>): Promise<ReadonlyArray<Found>> => {
  const found = (await Promise.all(paths.map(find))).filter((one) => one !== undefined)
  return [...new Map(found.map((one) => [one.path, one])).values()]
}

const pathsOf = (found: ReadonlyArray<Found>) => found.map(({ path }) => path)

/** Where a path of the configuration is. */
export const placeOf = (path: string, { home, workspace }: Pick<Whereabouts, "home" | "workspace">): string =>
  path === "~" || path.startsWith("~/") ? join(home, path.slice(1)) : resolve(workspace, path)

/** Where a variable moves folders of the home folder, and single files that programs are told to read. */
const credentialPlaces = ({ environment, home }: Whereabouts): ReadonlyArray<string> => {
  const moved: ReadonlyArray<readonly [string, string | undefined]> = [
    [".config/", environment["XDG_CONFIG_HOME"]],
    [".local/share/", environment["XDG_DATA_HOME"]],
    [".local/state/", environment["XDG_STATE_HOME"]],
    [".claude/", environment["CLAUDE_CONFIG_DIR"]],
    [".cargo/", environment["CARGO_HOME"]],
    [".gnupg", environment["GNUPGHOME"]]
  ]
  const named = [
    "AWS_SHARED_CREDENTIALS_FILE",
    "AWS_CONFIG_FILE",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "KUBECONFIG",
    "NETRC",
    "NPM_CONFIG_USERCONFIG",
    "npm_config_userconfig",
    "DOCKER_CONFIG",
    "REPRISE_GIT_CREDENTIALS_FILE",
    "REPRISE_GIT_SSH_KEY_FILE",
    "REPRISE_NATS_CREDENTIALS",
    "REPRISE_NATS_NKEY_SEED_FILE"
  ].flatMap((name) => environment[name]?.split(":") ?? [])
  return [
    ...credentialPaths.map((path) => join(home, path)),
    ...moved.flatMap(([prefix, folder]) =>
      folder === undefined || folder === ""
        ? []
        : credentialPaths
            .filter((path) => path.startsWith(prefix))
            .map((path) => join(folder, path.slice(prefix.length)))
    ),
    ...named.filter((path) => isAbsolute(path))
  ]
}

const firstLine = (text: string) => text.split("\n", 1)[0]?.trim() ?? ""

/** Below `modules`, where git keeps submodules, which have submodules of their own. */
const submodules = async (directory: string, depth = 0): Promise<ReadonlyArray<string>> => {
  if (depth > 6) return []
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => [])
  if (entries.some(({ name }) => name === "HEAD")) {
    return [directory, ...(await submodules(join(directory, "modules"), depth + 1))]
  }
  const below = entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => submodules(join(directory, name), depth + 1))
  return (await Promise.all(below)).flat()
}

const longestChain = 8

/**
 * The files that a configuration of git includes, whatever the condition, and those that they include. Too many are named
 * rather than too few: any line that gives a path counts.
 */
const includedBy = async (
  config: string,
  home: string,
  known: ReadonlySet<string> = new Set()
): Promise<ReadonlyArray<string>> => {
  const text = await readFile(config, "utf8").catch(() => "")
  const named = [...text.matchAll(/^[^#;\n]*?\bpath\s*=\s*"?([^"\n]+?)"?\s*$/gim)].flatMap(([, path]) =>
    path === undefined ? [] : [path.startsWith("~/") ? join(home, path.slice(2)) : resolve(dirname(config), path)]
  )
  const found = named.filter((path) => !known.has(path))
  if (known.size > longestChain) return found
  const deeper = await Promise.all(found.map((path) => includedBy(path, home, new Set([...known, ...found]))))
  return [...found, ...deeper.flat()]
}

/** Reads the files as git does; running git would obey the configuration that is to be guarded. */
export const gitPlacesOf = async (workspace: string, home = homedir()): Promise<GitPlaces | undefined> => {
  const dotGit = await find(join(workspace, ".git"))
  if (dotGit === undefined) return undefined
  const pointed =
    dotGit.kind === "folder"
      ? dotGit
      : await find(resolve(workspace, firstLine(await readFile(dotGit.path, "utf8")).replace(/^gitdir: /, "")))
  if (pointed?.kind !== "folder") return undefined
  const directory = pointed.path
  const common = await readFile(join(directory, "commondir"), "utf8").then(
    (text) => find(resolve(directory, firstLine(text))),
    () => pointed
  )
  if (common === undefined) return undefined
  const repositories = [common.path, ...(await submodules(join(common.path, "modules")))]
  const inWorktree = directory === common.path ? [] : ["commondir", "gitdir", "config.worktree"]
  const executable = await findAll([
    ...repositories.flatMap((one) => ["hooks", "config", "config.worktree"].map((name) => join(one, name))),
    ...inWorktree.map((name) => join(directory, name))
  ])
  const configurations = [join(common.path, "config"), join(directory, "config.worktree"), join(home, ".gitconfig")]
  const included = (await Promise.all(configurations.map((one) => includedBy(one, home)))).flat()
  return {
    directory,
    common: common.path,
    ...(dotGit.kind === "file" ? { pointer: dotGit.path } : {}),
    executable: pathsOf(executable),
    included: [...new Set(included)]
  }
}

/** Sockets with a path that somebody listens on: the network's namespace does not separate them. */
const listeningSockets = async (): Promise<ReadonlyArray<string>> => {
  const text = await readFile("/proc/net/unix", "utf8").catch(() => "")
  const paths = text.split("\n").flatMap((line) => {
    const [, , , flags, , , , path] = line.trim().split(/\s+/)
    return flags === "00010000" && path?.startsWith("/") === true ? [path] : []
  })
  const found = await findAll(paths)
  return pathsOf(found).filter((path) => !/^\/(run|dev|proc|sys)\//.test(path))
}

/** What nobody may be asked about, whether it exists or not: as it is named, and where it leads. */
export const closedPlaces = async (
  where: Whereabouts,
  settings: SandboxSettings,
  git: GitPlaces | undefined
): Promise<ReadonlyArray<string>> => {
  const named = [...credentialPlaces(where), ...settings.deny.map((path) => placeOf(path, where))]
  const own = git === undefined ? [] : [git.directory, git.common, ...git.executable, ...git.included]
  return [...new Set([...named, ...own, ...pathsOf(await findAll(named))])]
}

export const lookAround = async (where: Whereabouts, settings: SandboxSettings): Promise<Surroundings> => {
  const workspace = await realpath(where.workspace)
  const at = { ...where, workspace }
  const places = (paths: ReadonlyArray<string>) => findAll(paths.map((path) => placeOf(path, at)))
  const realOf = async (path: string) => (await find(path))?.path ?? path
  return {
    home: (await find(where.home))?.path,
    workspace,
    stateDirectory: await realOf(where.stateDirectory),
    temporary: await realOf(where.temporary),
    caches: await realOf(where.caches),
    refused: where.refused,
    git: await gitPlacesOf(workspace, where.home),
    hidden: await findAll([...credentialPlaces(at), ...settings.deny.map((path) => placeOf(path, at))]),
    write: pathsOf(await places(settings.write)),
    read: pathsOf(await places(settings.read)),
    steering: pathsOf(await findAll(steering.map((name) => join(workspace, name)))),
    sockets: await listeningSockets(),
    registries: registriesFor(await readdir(workspace))
  }
}

/** Where git looks for hooks. */
export const hooksOf = (git: GitPlaces | undefined): string | undefined =>
  git === undefined ? undefined : join(git.common, "hooks")

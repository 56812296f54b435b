/** What the disk says about a workspace, for `policyFor`. Reads only. */
import { realpath } from "node:fs/promises"
import { userInfo } from "node:os"
import { basename, delimiter, dirname, isAbsolute, join, resolve } from "node:path"
import { hasCode, readForeignFolder } from "@reprise/process"
import { annexKeys } from "../clone/clonePlaces.ts"
import { exists, find, findAll, makeLeadsTo, pathsOf, realOf } from "../disk/pathsOnDisk.ts"
import { gitPlacesOf } from "../git/gitPlaces.ts"
import { registriesFor } from "../network/registries.ts"
import { mayBeOpened } from "../refused/refusedWrites.ts"
import { anchorsOf } from "./anchors.ts"
import { commandFiles } from "./commandFiles.ts"
import { credentialPaths, systemCredentialPaths } from "./credentials.ts"
import { entriesIn } from "./foldersOfUser.ts"
import { foreignSockets } from "./foreignSockets.ts"
import { listedFolders } from "./listedFolders.ts"
import { isWithin, type Mount } from "./mounts.ts"
import { findNamed, findNamedToWrite } from "./namedPlaces.ts"
import type { Bounds } from "./openPlaces.ts"
import { neverWritten, ownFoldersOnDisk } from "./ownFolders.ts"
import {
  type Found,
  type GitPlaces,
  keptPaths,
  type OwnPlaces,
  type SandboxSettings,
  type Surroundings
} from "./policy.ts"
import { programFolders, programPlaces } from "./programPlaces.ts"
import { startupPlaces } from "./startupPlaces.ts"

type Environment = Readonly<Record<string, string | undefined>>

export interface Whereabouts {
  /** What commands see in the place of git's directories; absent: the directories themselves, which they read. */
  readonly clone?: ReadonlyArray<Mount>
  readonly workspace: string
  readonly stateDirectory: string
  readonly home: string
  readonly environment: Environment
  readonly temporary: string
  readonly caches: string
  readonly cachesFrom?: string
  readonly refused: string
  /** In it an agent has a folder for each of its `apart`. */
  readonly apart: string
  /** The folders of the user's `PATH`, without those of the repository. */
  readonly searched: ReadonlyArray<string>
}

/** Where a path of the configuration is. */
export const placeOf = (path: string, { home, workspace }: Pick<Whereabouts, "home" | "workspace">): string =>
  path === "~" || path.startsWith("~/") ? join(home, path.slice(1)) : resolve(workspace, path)

/** Of the user, whatever HOME says; a container's user may have none. */
const ownHome = (): ReadonlyArray<string> => {
  try {
    return [userInfo().homedir]
  } catch {
    return []
  }
}

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
  // Somebody may have set HOME, and as root everybody's keys can be read.
  const homes = new Set([home, ...ownHome()])
  return [
    ...systemCredentialPaths,
    ...[...homes].flatMap((one) => credentialPaths.map((path) => join(one, path))),
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

/** For what can be reached: none of a folder with so many that it is no project's top. */
const namesIn = (folder: string): Promise<ReadonlyArray<string>> =>
  readForeignFolder(folder, { mostEntries: 20_000 }).then(
    (entries) => entries?.map(({ name }) => name) ?? [],
    (error) => (hasCode(error, "ETOOMANY") ? [] : Promise.reject(error))
  )

/** What nobody may be asked about, whether it exists or not: as it is named, and where it leads. */
const closedPlaces = (
  where: Whereabouts,
  named: ReadonlyArray<string>,
  found: ReadonlyArray<Found>,
  git: GitPlaces | undefined
): ReadonlyArray<string> => {
  const programs = programFolders(where.searched)
  const own = git === undefined ? [] : [git.directory, git.common, ...git.executable, ...git.obeyed]
  return [...new Set([...named, ...own, ...programs, ...pathsOf(found)])]
}

/** Where places that do not exist would be, as far as their folders say. */
const absentPlaces = (places: ReadonlyArray<string>): ReadonlyArray<string> => {
  const folders = new Map([...new Set(places.map((path) => dirname(path)))].map((path) => [path, find(path)?.path]))
  return places.flatMap((path) => {
    const above = folders.get(dirname(path))
    return above === undefined ? [] : [join(above, basename(path))]
  })
}

const openedPlaces = async (wished: ReadonlyArray<string>, bounds: Bounds): Promise<ReadonlyArray<string>> => {
  const places = [...new Set(wished)]
  const mayBe = await Promise.all(places.map((place) => mayBeOpened(place, bounds)))
  return places.filter((_, index) => mayBe[index])
}

const noOwnPlaces: OwnPlaces = { write: [], read: [], kept: [], apart: [], network: [] }

/** What a pattern stands for. */
const matching = async (path: string): Promise<ReadonlyArray<string>> => {
  const [before, after] = basename(path).split("*")
  if (before === undefined || after === undefined) return [path]
  const names = await entriesIn(dirname(path))
  return names
    .map(({ name }) => name)
    .filter((name) => name.startsWith(before) && name.endsWith(after))
    .map((name) => join(dirname(path), name))
}

export interface Around extends Surroundings, Bounds {
  readonly home: string | undefined
  readonly workspace: string
  readonly stateDirectory: string
  /** Whether commands may write where a human let them. */
  readonly hasOpened: boolean
}

/** `own`: of an agent that runs inside as a whole. `wished`: where a human let commands write, if that is still allowed. */
export const lookAround = async (
  where: Whereabouts,
  settings: SandboxSettings,
  { own = noOwnPlaces, wished = [] }: { readonly own?: OwnPlaces; readonly wished?: ReadonlyArray<string> } = {}
): Promise<Around> => {
  const workspace = await realpath(where.workspace)
  const at = { ...where, workspace }
  const named = (paths: ReadonlyArray<string>, by: string) => paths.map((path) => ({ path: placeOf(path, at), by }))
  const ofAgent = (paths: ReadonlyArray<string>) => paths.map((path) => ({ path: placeOf(path, at) }))
  const places = await gitPlacesOf(workspace, { ...where.environment, HOME: where.home })
  const git = places && { ...places, ...(where.clone === undefined ? {} : { clone: where.clone }) }
  const stateDirectory = realOf(where.stateDirectory) ?? where.stateDirectory
  const home = realOf(where.home)
  const ofPrograms = credentialPlaces(at)
  const ofAnnex = git === undefined ? [] : [join(git.common, annexKeys)]
  const keyPlaces = [...ofPrograms, ...ofAnnex]
  const deniedPlaces = settings.deny.map((path) => placeOf(path, at))
  const credentials = findAll(keyPlaces)
  const denied = findAll(deniedPlaces)
  const { opencode, reprise } = ownFoldersOnDisk(where.environment, where.home)
  const closed = closedPlaces(
    at,
    [...ofPrograms, ...deniedPlaces, ...reprise, ...opencode],
    [...credentials, ...denied],
    git
  )
  const always = [workspace]
  const bounds = { home, workspace, stateDirectory }
  const opened = wished.length === 0 ? [] : await openedPlaces(wished, { ...bounds, closed })
  const ofSettings = named(settings.write, "sandbox.write")
  const ofReprise = ofSettings.find(({ path }) => isWithin(realOf(path) ?? path, stateDirectory))
  if (ofReprise !== undefined && !isWithin(workspace, realOf(ofReprise.path) ?? ofReprise.path))
    throw new Error(
      `sandbox.write names ${ofReprise.path}, where Reprise keeps its own state, so no command runs here. Take it out.`
    )
  const toWrite = [...ofSettings, ...ofAgent(own.write)]
  const write = [...findNamedToWrite(toWrite, [...always, ...opened]), ...opened]
  const writable = [...always, ...write]
  const real = (paths: ReadonlyArray<string>) => pathsOf(findAll(paths.map((path) => placeOf(path, at))))
  const wishedToWrite = { settings: real(settings.write), agent: real(own.write), workspace }
  const toNobody = neverWritten(where.environment, where.home, wishedToWrite)
  const programs = where.searched.filter((folder) => !writable.some((place) => isWithin(folder, place)))
  const ownFolders = findNamed(ofAgent(own.write), writable)
  const read = findNamed([...named(settings.read, "sandbox.read"), ...ofAgent(own.read)], writable)
  const [sockets, ofHome, ofPath] = await Promise.all([
    foreignSockets({ home, workspace, writable, programs: programs.join(delimiter) }),
    startupPlaces(home ?? where.home, where.environment, writable),
    programPlaces(where.searched, write)
  ])
  const couldBeWritten = (path: string) => writable.some((place) => isWithin(path, place))
  const startup = [...new Set([...ofHome, ...ofPath, ...toNobody.filter(couldBeWritten)])]
  // Of its own login an agent has need; what the settings deny stays denied.
  const hidden = [...credentials.filter(({ path }) => !ownFolders.some((folder) => isWithin(path, folder))), ...denied]
  const leadsTo = makeLeadsTo()
  const placed = (path: string) => join(leadsTo(dirname(path)), basename(path))
  const kept = (await Promise.all(own.kept.map(matching))).flat().map(placed)
  const apart = own.apart.map((path) => ({ path: leadsTo(path), from: join(where.apart, path) }))
  const obeyedFiles = [...commandFiles.map((name) => join(workspace, name)), ...kept]
  const protectedPaths = [
    ...obeyedFiles,
    ...startup,
    // Where it is a link, a command could put a repository of its own in its place.
    join(workspace, ".git"),
    ...(git?.obeyed ?? []),
    // As they are named, too: what a link of the user's leads to would be hidden no more without it.
    ...[...keyPlaces, ...deniedPlaces],
    ...pathsOf(hidden)
  ]
  const anchors = anchorsOf(
    protectedPaths.filter((path) => !isWithin(path, stateDirectory) || isWithin(path, workspace)),
    writable
  )
  const homes = pathsOf(findAll([where.home, ...ownHome()]))
  const [listed, names] = await Promise.all([
    listedFolders(homes, { keys: [...pathsOf(hidden), ...absentPlaces(ofPrograms)], sockets }),
    namesIn(workspace)
  ])
  const around = {
    ...bounds,
    closed,
    temporary: realOf(where.temporary) ?? where.temporary,
    caches: leadsTo(where.caches),
    ...(where.cachesFrom === undefined ? {} : { cachesFrom: realOf(where.cachesFrom) ?? where.cachesFrom }),
    refused: where.refused,
    git,
    hidden: [...new Map(hidden.map((one) => [one.path, one])).values()],
    listed,
    write,
    hasOpened: opened.length > 0,
    read,
    commandFiles: pathsOf(findAll([...obeyedFiles, ...startup])),
    startup,
    anchors,
    sockets,
    registries: registriesFor(names),
    ...(own === noOwnPlaces ? {} : { own: { kept, apart, network: own.network } })
  }
  return { ...around, present: keptPaths(around).filter(exists) }
}

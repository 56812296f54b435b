/**
 * What of the user's folder leads into places that commands may write: whoever keeps settings of programs in a repository has
 * links to it there, and a shell, git or an editor obeys them (docs/design/workspace.md#sandbox). Reads only.
 */
import { isAbsolute, join } from "node:path"
import { makeLeadsTo } from "../disk/pathsOnDisk.ts"
import { entriesIn } from "./foldersOfUser.ts"
import { isWithin } from "./mounts.ts"

type Environment = Readonly<Record<string, string | undefined>>

/** Obeyed as soon as they are there. What is there is found without its name. */
const startupNames: ReadonlyArray<string> = [
  ...[".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".kshrc", ".inputrc"],
  ...[".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".xprofile", ".xsession", ".xsessionrc", ".xinitrc"],
  ...[".vimrc", ".exrc", ".emacs", ".tmux.conf", ".screenrc", ".gdbinit", ".pam_environment"],
  // Node and Bun find modules and what to load before them there.
  ...[".node_modules", ".node_libraries", ".bunfig.toml"],
  ...[".ssh/config", ".ssh/rc", ".ssh/environment", ".ssh/authorized_keys"],
  ...["fish/config.fish", "zsh/.zshrc", "nvim/init.lua", "nvim/init.vim"].map((name) => `.config/${name}`),
  ...["autostart", "environment.d", "systemd/user"].map((name) => `.config/${name}`)
]

/** Variables that name a file which a program runs when it starts. */
const startupVariables = ["BASH_ENV", "ENV", "INPUTRC", "PYTHONSTARTUP"]

/** With others than settings in them; `.git` and `.reprise` where the home folder is a repository. */
const passedOver: ReadonlySet<string> = new Set([".cache", ".git", ".reprise"])

/** Below `.config` a program has folders of its own. */
const depthOfSettings = 3

/** Links at or below a folder, this deep. */
const linksIn = async (folder: string, depth: number): Promise<ReadonlyArray<string>> => {
  const entries = await entriesIn(folder)
  const found = entries.map(async (entry) => {
    const path = join(folder, entry.name)
    if (entry.isSymbolicLink()) return [path]
    return entry.isDirectory() && depth > 1 ? await linksIn(path, depth - 1) : []
  })
  return (await Promise.all(found)).flat()
}

/** What begins with a dot is settings of programs. A program that a link in `bin` leads to is run by its name alone. */
const settingsIn = async (home: string): Promise<ReadonlyArray<string>> => {
  const entries = await entriesIn(home)
  return entries.flatMap(({ name }) => (name.startsWith(".") && !passedOver.has(name) ? [join(home, name)] : []))
}

/** `home` and `writable`: real. Gives real paths, whether something is there or not. Rejected as `entriesIn`. */
export const startupPlaces = async (
  home: string,
  environment: Environment,
  writable: ReadonlyArray<string>
): Promise<ReadonlyArray<string>> => {
  const top = await settingsIn(home)
  const xdg = environment["XDG_CONFIG_HOME"] ?? ""
  const settings = [join(home, ".config"), ...(isAbsolute(xdg) ? [xdg] : [])]
  const deeper = await Promise.all([
    ...settings.map((folder) => linksIn(folder, depthOfSettings)),
    ...top.filter((path) => !settings.includes(path)).map((path) => linksIn(path, 1))
  ])
  const zsh = environment["ZDOTDIR"] ?? ""
  const named = [
    ...startupNames.map((name) => join(home, name)),
    ...startupNames.filter((name) => name.startsWith(".z")).map((name) => join(isAbsolute(zsh) ? zsh : home, name)),
    ...startupVariables.map((name) => environment[name] ?? "").filter((path) => isAbsolute(path))
  ]
  // A link there is a command's own.
  const withinHome = writable.filter((folder) => folder !== home && isWithin(folder, home))
  const ofUser = [...top, ...deeper.flat(), ...named].filter(
    (path) => !withinHome.some((folder) => isWithin(path, folder))
  )
  const places = ofUser.map(makeLeadsTo())
  const isWritable = (path: string) => writable.some((folder) => path !== folder && isWithin(path, folder))
  return [...new Set(places)].filter(
    // Of a folder that is the settings as a whole nothing could be written.
    (path) => isWritable(path) && !writable.some((folder) => isWithin(folder, path))
  )
}

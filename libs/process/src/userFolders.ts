/** Where Reprise keeps what belongs to the user and to no repository. XDG says that relative paths are ignored. */
import { homedir } from "node:os"
import { isAbsolute, join } from "node:path"

type Environment = Readonly<Record<string, string | undefined>>

const folderOf = (configured: string | undefined, usual: string): string =>
  join(configured !== undefined && isAbsolute(configured) ? configured : join(homedir(), usual), "reprise")

/** `$XDG_CONFIG_HOME/reprise`, else `~/.config/reprise`: what the user decided, such as trust. */
export const userConfigFolder = ({ XDG_CONFIG_HOME }: Environment): string => folderOf(XDG_CONFIG_HOME, ".config")

/** `$XDG_CACHE_HOME/reprise`, else `~/.cache/reprise`: what can be fetched again. */
export const userCacheFolder = ({ XDG_CACHE_HOME }: Environment): string => folderOf(XDG_CACHE_HOME, ".cache")

/** `$XDG_DATA_HOME/reprise`, else `~/.local/share/reprise`: what runs have made here, such as clones with their work. */
export const userDataFolder = ({ XDG_DATA_HOME }: Environment): string =>
  folderOf(XDG_DATA_HOME, join(".local", "share"))

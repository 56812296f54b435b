/** Whether a repository that an agent may have made says more than git itself writes into a new one. Pure. */

/** A line of `git config --list -z`: its key, with section and name in lower case, and its value. */
export type Setting = readonly [key: string, value: string]

/** The output of `git config --list -z`. */
export const readSettings = (listed: string): ReadonlyArray<Setting> =>
  listed.split("\0").flatMap((entry): ReadonlyArray<Setting> => {
    if (entry === "") return []
    const at = entry.indexOf("\n")
    return [at < 0 ? [entry, ""] : [entry.slice(0, at), entry.slice(at + 1)]]
  })

const flag = /^(|true|false|yes|no|on|off|\d+)$/i

/** `ext::sh -c …` runs a command, and `name::…` the program `git-remote-name`. git takes an address for the name of a remote, too. */
const address = /^(?![a-z0-9+.-]+::|-)/i

/**
 * What `git init`, `clone`, `branch` and `submodule` write, and settings of names and looks, each with the values that git
 * takes: of another value in `core.bare` even the repository around it cannot be read. None of them names a program.
 */
const ordinary: ReadonlyArray<readonly [key: RegExp, value: RegExp]> = [
  [/^core\.(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks)$/, flag],
  [/^core\.(autocrlf|eol|safecrlf)$/, /^(|true|false|input|lf|crlf|native|warn)$/i],
  [/^core\.(longpaths|quotepath|abbrev|compression|untrackedcache)$/, /^(|true|false|auto|no|keep|\d+)$/i],
  [/^extensions\.objectformat$/, /^(sha1|sha256)$/],
  [/^extensions\.refstorage$/, /^(files|reftable)$/],
  [/^extensions\.(worktreeconfig|relativeworktrees)$/, flag],
  [/^(remote|submodule)\..+\.(url|pushurl)$/s, address],
  [/^remote\..+\.(fetch|push|tagopt|prune|gh-resolved)$/s, /^/],
  [/^branch\..+\.(remote|pushremote)$/s, address],
  [/^branch\..+\.(merge|rebase|description|vscode-merge-base)$/s, /^/],
  [/^submodule\.active$/, /^/],
  [/^submodule\..+\.(active|branch|ignore)$/s, /^/],
  [/^user\.(name|email)$/, /^/],
  [/^(advice|color|column|pull|push)\.[a-z]+$/, /^/],
  [/^(gc|fetch|rerere)\.(?!recentobjectshook$)[a-z]+$/, /^/],
  [/^init\.defaultbranch$/, /^/],
  [/^lfs\.repositoryformatversion$/, /^\d+$/]
]

/** As `git lfs install --local` writes them. */
const lfs: Readonly<Record<string, string>> = {
  "filter.lfs.clean": "git-lfs clean -- %f",
  "filter.lfs.smudge": "git-lfs smudge -- %f",
  "filter.lfs.process": "git-lfs filter-process",
  "filter.lfs.required": "true"
}

const isOrdinary = ([key, value]: Setting, isOwnTree: (path: string) => boolean): boolean => {
  if (key === "core.worktree") return isOwnTree(value)
  if (lfs[key] !== undefined) return lfs[key] === value
  return ordinary.some(([name, values]) => name.test(key) && values.test(value))
}

/** The keys that say more. `isOwnTree`: whether a path, as `core.worktree` names it, names the repository's own working tree. */
export const unusualKeys = (
  settings: ReadonlyArray<Setting>,
  isOwnTree: (path: string) => boolean
): ReadonlyArray<string> => [...new Set(settings.filter((one) => !isOrdinary(one, isOwnTree)).map(([key]) => key))]

/** Whether git runs a file of the folder `hooks`. The samples of `git init` are not run under their names. */
export const isHook = (name: string): boolean => !name.endsWith(".sample") && name !== "README"

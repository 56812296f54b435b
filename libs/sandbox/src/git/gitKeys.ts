/** Which values of git's configuration name files that git reads or runs (git-config(1)). Pure. */

/** A value as git read it. `key`: section and name in small letters, what is between them as it was written. */
export interface GitSetting {
  readonly key: string
  /** Absent: the key stands alone. */
  readonly value?: string
  /** The file that has it, absolute; absent: a variable of the environment. */
  readonly file?: string
}

/**
 * - `include`: a file that is configuration, too. Relative to the file that names it.
 * - `hooks`: a folder of programs. Relative to the working tree, as all that follow.
 * - `place`: a file or a folder that git obeys.
 * - `program`: a command line.
 */
export type NamedAs = "include" | "hooks" | "place" | "program"

export interface NamedPath {
  readonly as: NamedAs
  readonly text: string
  readonly file?: string
}

/**
 * `attributesfile` chooses filters, `excludesfile` hides files from `git status`, `templatedir` is copied into new
 * repositories with its hooks, and the others say whom git trusts. `commit.template`, `mailmap.file` and
 * `blame.ignorerevsfile` only become text that a person sees: an author may change them.
 */
const places: ReadonlySet<string> = new Set([
  ...["core.attributesfile", "core.excludesfile", "init.templatedir"],
  ...["gpg.ssh.allowedsignersfile", "gpg.ssh.revocationfile"]
])

/** `http.sslcainfo`, also for one address: `http.https://example.org.sslcainfo`. */
const trustedByHttp = /^http\.(.*\.)?(proxy)?ssl(cainfo|capath|cert|key)$/s

/** Sections of which every value is a command line. */
const programSections: ReadonlySet<string> = new Set(["alias", "pager"])

/** What the last part of a key is called where its value is run. Too many are named rather than too few. */
const programNames: ReadonlySet<string> = new Set([
  ...["alternaterefscommand", "askpass", "editor", "fsmonitor", "gitproxy", "pager", "sshcommand"],
  ...["clean", "process", "smudge", "cmd", "command", "textconv", "driver", "external", "difffilter", "path"],
  ...["helper", "program", "defaultkeycommand", "packobjectshook", "receivepack", "uploadpack", "update", "tunnel"],
  ...["browser", "sendmailcmd", "smtpserver", "tocmd", "cccmd", "headercmd", "recentobjectshook"]
])

const namedAs = (key: string): NamedAs | undefined => {
  const section = key.slice(0, key.indexOf("."))
  const name = key.slice(key.lastIndexOf(".") + 1)
  if ((section === "include" || section === "includeif") && name === "path") return "include"
  if (key === "core.hookspath") return "hooks"
  if (places.has(key) || trustedByHttp.test(key)) return "place"
  return programSections.has(section) || programNames.has(name) ? "program" : undefined
}

/** A file that may be absent is named behind this (git 2.52 and newer): one that appears is obeyed. */
const optional = /^:\(optional\)/

export const namedPathOf = ({ file, key, value = "" }: GitSetting): ReadonlyArray<NamedPath> => {
  const as = namedAs(key)
  const text = as === "program" ? value : value.replace(optional, "")
  if (as === undefined || text === "") return []
  return [{ as, text, ...(file === undefined ? {} : { file }) }]
}

/** Whether git itself says what a path stands for: `~`, `~user`, `%(prefix)`. */
export const needsGit = ({ as, text }: NamedPath): boolean => as !== "program" && /^(~|%\(prefix\)\/)/.test(text)

/** Variables that stand for a setting, and the most usual programs that git starts by them. */
const variables: Readonly<Record<string, NamedAs>> = {
  GIT_TEMPLATE_DIR: "place",
  GIT_EXEC_PATH: "place",
  ...Object.fromEntries(
    [
      ...["GIT_ASKPASS", "GIT_EDITOR", "GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_PROXY_COMMAND", "GIT_SEQUENCE_EDITOR"],
      ...["GIT_SSH", "GIT_SSH_COMMAND", "EDITOR", "PAGER", "SSH_ASKPASS", "VISUAL"]
    ].map((name) => [name, "program" as const])
  )
}

export const namedByEnvironment = (
  environment: Readonly<Record<string, string | undefined>>
): ReadonlyArray<NamedPath> =>
  Object.entries(variables).flatMap(([name, as]) => {
    const text = environment[name] ?? ""
    return text === "" ? [] : [{ as, text }]
  })

/** What looks like a file: has a folder or an extension, and is no option. */
const looksLikeFile = (word: string) => /^[^-].*[/.]/s.test(word) && !/^\.{1,2}$|:\/\/|\/$/.test(word)

export interface WordOfCommand {
  readonly path: string
  /** Whether it is one even where nothing is there yet; else it may be a name of something else. */
  readonly isPath: boolean
}

/**
 * What a word may be as a path. What a shell puts in front, such as `$root/` or `$(pwd)/`, is most often the top of the working
 * tree; a letter of an option may stand before, as in `-r./tools/x`.
 */
const asPaths = (word: string): ReadonlyArray<string> => [
  word,
  ...(/^-\w./.test(word) ? [word.slice(2)] : []),
  ...(/^\$\w*\/./.test(word) ? [word.slice(word.indexOf("/") + 1)] : []),
  ...(/\\./.test(word) ? [word.replace(/\\(.)/g, "$1")] : []),
  ...(word.includes(":") && !word.includes("://") ? word.split(":") : [])
]

/**
 * What of a command line may be a file: the whole, what stands in quotes, and every word, whatever the shell makes of them.
 * A file that is one of these is run or read by the command; what that program loads in turn is not known here.
 */
export const wordsOfCommand = (text: string, home: string): ReadonlyArray<WordOfCommand> => {
  const quoted = [...text.matchAll(/"([^"]*)"|'([^']*)'/g)].map(([, double, single]) => double ?? single ?? "")
  const split = text
    .replaceAll(/\$\{(\w+)\}/g, "$$$1")
    .replaceAll(/\$HOME(?=\/)/g, home)
    .replaceAll(/(^|[\s"'=:])~(?=\/)/g, `$1${home}`)
    // A blank behind a backslash is part of a word.
    .replaceAll(/\\ /g, "\\\u0000")
  const wordsIn = (line: string) =>
    line
      .split(/!|(?<!\\)[\s"'`;|&()<>={},]+/)
      .map((word) => word.replaceAll("\u0000", " "))
      .filter((word) => word !== "")
  const [first = "", ...others] = wordsIn(split)
  // Of what another command prints, only what follows it.
  const printed = split.replaceAll(/(\$\([^()]*\)|`[^`]*`)(?=\/)/g, "$$_")
  const rest = printed === split ? others : [...others, ...wordsIn(printed)]
  // A name without a folder is looked up in PATH.
  const words = first.includes("/") ? [first, ...rest] : rest
  return [...new Set([...(text === first ? [] : [text]), ...quoted, ...words].flatMap(asPaths))]
    .filter((word) => word !== "" && !word.includes("\n") && word.length < 4096)
    .map((path) => ({ path, isPath: looksLikeFile(path) && !/[\s%$*?\\]/.test(path) }))
}

/** The records of `git config --list -z --show-origin`. `absolute`: where a path that git names is. */
export const readListing = (listed: string, absolute: (path: string) => string): ReadonlyArray<GitSetting> => {
  const fields = listed.split("\0")
  return fields.flatMap((origin, at): ReadonlyArray<GitSetting> => {
    const record = fields[at + 1]
    if (at % 2 === 1 || record === undefined) return []
    const end = record.indexOf("\n")
    return [
      {
        key: end === -1 ? record : record.slice(0, end),
        ...(end === -1 ? {} : { value: record.slice(end + 1) }),
        ...(origin.startsWith("file:") ? { file: absolute(origin.slice("file:".length)) } : {})
      }
    ]
  })
}

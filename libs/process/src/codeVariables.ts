/**
 * Variables that name code which a loader, an interpreter or a program runs. Where one leads to a place that agents can write, such
 * as a folder of the repository, it must not reach what runs outside of the sandbox. An entry that is empty or relative leads to
 * wherever one is. Pure.
 */
import { isAbsolute } from "node:path"

type Kind =
  /** Folders, separated as the loader does. */
  | "folders"
  /** Files; a name alone is looked up in the system's folders, and in those of a variable of this table. */
  | "libraries"
  /** One file or folder. */
  | "place"
  /** The same, but it may be in the repository: what is obeyed there is read only in every sandbox, whoever names it. */
  | "protected"
  /** Options of an interpreter. */
  | "options"
  /** The words of a command. */
  | "command"

const kinds: Readonly<Record<Kind, ReadonlyArray<string>>> = {
  folders: [
    ...[
      "LD_LIBRARY_PATH",
      "GCONV_PATH",
      "LOCPATH",
      "GIO_EXTRA_MODULES",
      "GIO_MODULE_DIR",
      "GTK_PATH",
      "GI_TYPELIB_PATH"
    ],
    ...["DYLD_LIBRARY_PATH", "DYLD_FRAMEWORK_PATH", "DYLD_FALLBACK_LIBRARY_PATH", "DYLD_FALLBACK_FRAMEWORK_PATH"],
    ...["DYLD_VERSIONED_LIBRARY_PATH", "DYLD_VERSIONED_FRAMEWORK_PATH", "DYLD_INSERT_LIBRARIES"],
    ...["PYTHONPATH", "PYTHONHOME", "PERL5LIB", "PERLLIB", "RUBYLIB", "NODE_PATH", "CLASSPATH"],
    ...["XDG_DATA_DIRS", "XDG_CONFIG_DIRS"]
  ],
  libraries: ["LD_PRELOAD", "LD_AUDIT"],
  place: [
    ...["GIT_EXEC_PATH", "GIT_TEMPLATE_DIR", "PYTHONUSERBASE", "OPENSSL_CONF", "OPENSSL_MODULES", "OPENSSL_ENGINES"],
    ...["CURL_HOME", "WGETRC", "SHELL", "TMPDIR", "TEMP", "TMP", "BUN_TMPDIR", "XDG_RUNTIME_DIR"]
  ],
  protected: [
    ...["HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"],
    ...["BASH_ENV", "ENV", "INPUTRC", "PYTHONSTARTUP", "ZDOTDIR"]
  ],
  options: [
    ...["NODE_OPTIONS", "BUN_OPTIONS", "PERL5OPT", "RUBYOPT"],
    ...["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"]
  ],
  command: [
    ...["GIT_SSH", "GIT_SSH_COMMAND", "GIT_PROXY_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_ASKPASS", "SSH_ASKPASS"],
    ...["GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "VISUAL", "EDITOR", "GIT_PAGER", "PAGER", "BROWSER"]
  ]
}

const allKinds = ["folders", "libraries", "place", "protected", "options", "command"] as const

const kindOf: ReadonlyMap<string, Kind> = new Map(
  allKinds.flatMap((kind) => kinds[kind].map((name) => [name, kind] as const))
)

/** All but `PATH`, for which the folders that are taken out have a variable of their own. */
export const codeVariables: ReadonlyArray<string> = [...kindOf.keys()]

/** What Node, or the loader that starts it, has run before the first line of Reprise. */
export const loadedAtStart: ReadonlySet<string> = new Set(
  codeVariables.filter((name) => /^(LD|DYLD)_/.test(name) || ["NODE_OPTIONS", "OPENSSL_CONF"].includes(name))
)

/** Options whose operand is a module: a name alone is looked up in `node_modules` of the folder where one is. */
const loading = /^(-r|--require|--import|--loader|--experimental-loader|--preload|--openssl-config|--env-file)$/
const loadingAtOnce = /^(-r|-I|-javaagent:|-agentpath:)[^/-]/
const isOfNode = /^(file:\/\/\/|node:|\/)/
/** Begins at where one is, also after other letters, as in `-I./lib`. */
const relative = /(?:^|[^/.])\.{1,2}(?:\/|$)/
const relativeProgram = /^[^/~=]+\//

/** What the disk says of absolute paths. */
export interface Paths {
  /** Whether no command can write it. */
  readonly isTrusted: (path: string) => boolean
  readonly isThere: (path: string) => boolean
}

type IsTrusted = Paths["isTrusted"]

const wordsOf = (value: string): ReadonlyArray<string> => value.split(/[\s"']+/).filter((word) => word !== "")

/** The path in a word, as in `--require=/a` and `file:///a`; a word without one names nothing of the disk. */
const hasTrustedPath = (word: string, isTrusted: IsTrusted): boolean => {
  const start = word.indexOf("/")
  return !relative.test(word) && (start < 0 || isTrusted(word.slice(start)))
}

const optionsAreTrusted = (value: string, isTrusted: IsTrusted): boolean => {
  const words = wordsOf(value)
  return words.every((word, index) => {
    const equals = word.startsWith("-") ? word.indexOf("=") : -1
    const isOperand = equals < 0 ? loading.test(words[index - 1] ?? "") : loading.test(word.slice(0, equals))
    if (isOperand && !isOfNode.test(word.slice(equals + 1))) return false
    return !loadingAtOnce.test(word) && hasTrustedPath(word, isTrusted)
  })
}

const commandIsTrusted = (value: string, isTrusted: IsTrusted): boolean => {
  const words = wordsOf(value)
  return !relativeProgram.test(words[0] ?? "") && words.every((word) => hasTrustedPath(word, isTrusted))
}

/**
 * What programs outside of the sandbox may have of a variable of the table: undefined, if nothing is left of it. A folder that is not
 * there is left out, since a command may be able to make it.
 */
export const trustedValue = (name: string, value: string, { isThere, isTrusted }: Paths): string | undefined => {
  if (value === "") return value
  const isPlace = (path: string) => isAbsolute(path) && isTrusted(path) && isThere(path)
  switch (kindOf.get(name)) {
    case undefined:
      return value
    case "folders": {
      // The loader takes both for a separator.
      const entries = value.split(/[:;]/)
      return entries.every(isPlace) ? value : entries.filter(isPlace).join(":") || undefined
    }
    case "libraries": {
      const entries = value.split(/[\s:]+/).filter((entry) => entry !== "")
      const isTaken = (entry: string) => !entry.includes("/") || isPlace(entry)
      return entries.every(isTaken) ? value : entries.filter(isTaken).join(":") || undefined
    }
    case "place":
      return isPlace(value) ? value : undefined
    case "protected":
      return isAbsolute(value) ? value : undefined
    case "options":
      return optionsAreTrusted(value, isTrusted) ? value : undefined
    case "command":
      return commandIsTrusted(value, isTrusted) ? value : undefined
  }
}

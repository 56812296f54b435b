/** What programs in a workspace see of this process's environment. Pure. */
import { type OfTree, ofTree } from "./programPath.ts"

type Environment = Readonly<Record<string, string | undefined>>

/** Variables that would redirect git to another repository (`GIT_*`), and Reprise's own credentials. */
const withheld = /^(GIT_|REPRISE_|NATS_|OPENCODE_)/i

const pick = (host: Environment, isKept: (name: string) => boolean): Record<string, string> =>
  Object.fromEntries(
    Object.entries(host).flatMap(([name, value]) =>
      value === undefined || withheld.test(name) || !isKept(name) ? [] : [[name, value] as const]
    )
  )

/** The environment of git in a workspace: this process's own, without the withheld variables. */
export const childEnvironment = (host: Environment): Record<string, string> => pick(host, () => true)

/** What programs need to find themselves, their user and their tools. Nothing here holds a secret. */
const usual = new Set([
  "CARGO_HOME",
  "CI",
  "COLORTERM",
  "COLUMNS",
  "FORCE_COLOR",
  "GOCACHE",
  "GOMODCACHE",
  "GOPATH",
  "GOROOT",
  "HOME",
  "JAVA_HOME",
  "LANG",
  "LANGUAGE",
  "LD_LIBRARY_PATH",
  "LINES",
  "LOGNAME",
  "NODE_ENV",
  "NODE_EXTRA_CA_CERTS",
  "NO_COLOR",
  "NVM_DIR",
  "PATH",
  "PWD",
  "PYENV_ROOT",
  "RUSTUP_HOME",
  "SHELL",
  "SSL_CERT_DIR",
  "SSL_CERT_FILE",
  "TEMP",
  "TERM",
  "TMP",
  "TMPDIR",
  "TZ",
  "USER",
  "VIRTUAL_ENV",
  "VOLTA_HOME"
])

const isUsual = (name: string): boolean => usual.has(name) || /^(LC_[A-Z]+|XDG_[A-Z_]+)$/.test(name)

const isForCommands = (named: ReadonlyArray<string>) => (name: string) =>
  !withheld.test(name) && (isUsual(name) || named.includes(name))

/**
 * The environment of quality gates and hooks: the usual variables and those that are named, so that no key or token of
 * the user's reaches them by itself. Withheld variables cannot be named (docs/design/workspace.md#workspace).
 */
export const commandEnvironment = (host: Environment, named: ReadonlyArray<string>): Record<string, string> =>
  pick(host, isForCommands(named))

/** What they get besides where they run in the sandbox, or where nothing does. */
export const commandsOfTree = (host: Environment, named: ReadonlyArray<string>): OfTree =>
  ofTree(host, isForCommands(named))

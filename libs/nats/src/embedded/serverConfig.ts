/** Renders the configuration of the embedded server from the template `nats.conf`. Pure. */
import { Redacted } from "effect"
import { accountsConfig, keyVariable } from "../access/accountsConfig.ts"
import { type KeyHolder, keyHolders } from "../access/Identity.ts"
import type { Tenant } from "../access/permissions.ts"
import { compareVersions, parseServerVersion, type ServerVersion } from "../ServerVersion.ts"

export interface UserPassword {
  readonly user: string
  readonly password: Redacted.Redacted
}

export interface ServerSettings {
  readonly host: string
  /** -1: any free port. */
  readonly port: number
  readonly runDirectory: string
  readonly storeDirectory: string
  readonly logFile: string
  /** Whose data it is, and who may do work with it. */
  readonly tenant: Tenant
  readonly person: UserPassword
  readonly system: UserPassword
  readonly publicKey: (holder: KeyHolder) => string
  /** Statistics over HTTP on a free port. */
  readonly monitoring: boolean
}

const variables = (settings: ServerSettings): ReadonlyArray<readonly [string, string | number]> => [
  ["REPRISE_HOST", settings.host],
  ["REPRISE_PORT", settings.port],
  ["REPRISE_RUN_DIR", settings.runDirectory],
  ["REPRISE_LOG_FILE", settings.logFile],
  ["REPRISE_MONITOR", `${settings.host}:-1`],
  ["REPRISE_STORE_DIR", settings.storeDirectory],
  ["REPRISE_PERSON_USER", settings.person.user],
  ["REPRISE_PERSON_PASSWORD", Redacted.value(settings.person.password)],
  ["REPRISE_SYSTEM_USER", settings.system.user],
  ["REPRISE_SYSTEM_PASSWORD", Redacted.value(settings.system.password)],
  ...keyHolders.map((holder) => [keyVariable(holder), settings.publicKey(holder)] as const)
]

const mark = /#\?\s*(?:(monitoring)|since\s+(\S+))\s*$/

const isWanted = (line: string, version: ServerVersion, settings: ServerSettings): boolean => {
  const match = mark.exec(line)
  if (match === null || line.trimStart().startsWith("#")) return true
  if (match[1] === "monitoring") return settings.monitoring
  const since = parseServerVersion(match[2] ?? "")
  return since._tag === "None" || compareVersions(version, since.value) >= 0
}

/** The line in place of which the accounts stand. */
const accountsMark = /(?<![^\n])#\? accounts\n/

/** For the characters in paths and passwords, NATS quotes like JSON. */
const quoted = (value: string | number) => (typeof value === "number" ? String(value) : JSON.stringify(value))

/** The configuration with its values at the top. A person's password is in it, so the file must be private. */
export const renderServerConfig = (template: string, version: ServerVersion, settings: ServerSettings): string => {
  const body = template
    .replace(accountsMark, () => accountsConfig(settings.tenant, "password"))
    .split("\n")
    .filter((line) => isWanted(line, version, settings))
    .join("\n")
  // The server treats an unused variable as a misspelt setting.
  const names = new Set(Array.from(body.replaceAll(/#.*/g, "").matchAll(/\$(\w+)/g), ([, name]) => name))
  const used = variables(settings).filter(([name]) => names.has(name))
  return `${used.map(([name, value]) => `${name}: ${quoted(value)}`).join("\n")}\n\n${body}`
}

/** The accounts of a server's configuration, as the table of permissions says. Pure. */
import { type Identity, identities } from "./Identity.ts"
import { type Permissions, permissionsOf, permissionsOfSystem, type Tenant } from "./permissions.ts"

/** How a person and the statistics' reader log in: by password on one machine, else by key as everyone else. */
export type Login = "password" | "nkey"

/** The variable of the configuration with an identity's public key. */
export const keyVariable = (identity: Identity | "system"): string =>
  `REPRISE_NKEY_${identity.toUpperCase().replaceAll("-", "_")}`

const listed = (name: string, subjects: ReadonlyArray<string>): ReadonlyArray<string> =>
  subjects.length === 0 ? [] : [`${name}: [`, ...[...new Set(subjects)].map((one) => `  "${one}"`), "]"]

const indented = (lines: ReadonlyArray<string>, by: number) => lines.map((line) => `${" ".repeat(by)}${line}`)

const block = (name: string, lines: ReadonlyArray<string>): ReadonlyArray<string> => [
  `${name} {`,
  ...indented(lines, 2),
  "}"
]

const permissionLines = ({ answers, publish, subscribe }: Permissions): ReadonlyArray<string> =>
  block("permissions:", [
    ...block("publish:", [...listed("allow", publish.allow), ...listed("deny", publish.deny)]),
    ...block("subscribe:", listed("allow", subscribe.allow)),
    ...(answers ? ['allow_responses: { max: 1, expires: "1m" }'] : [])
  ])

const user = (login: ReadonlyArray<string>, permissions: Permissions): ReadonlyArray<string> => [
  "{",
  ...indented([...login, ...permissionLines(permissions)], 2),
  "}"
]

const withKey = (identity: Identity | "system") => [`nkey: $${keyVariable(identity)}`]
const withPassword = (variable: string) => [`user: $${variable}_USER`, `password: $${variable}_PASSWORD`]

/**
 * The users of all identities, each with its permissions. Their public keys, names and passwords are variables: seeds
 * stand in no configuration.
 */
export const accountsConfig = (tenant: Tenant, login: Login): string => {
  const personLogin = login === "password" ? withPassword("REPRISE_PERSON") : withKey("person")
  const systemLogin = login === "password" ? withPassword("REPRISE_SYSTEM") : withKey("system")
  const users = identities.flatMap((identity) => [
    `# ${identity}`,
    ...user(identity === "person" ? personLogin : withKey(identity), permissionsOf(identity, tenant))
  ])
  const lines = [
    ...block("accounts", [
      "# Everything Reprise stores.",
      ...block("REPRISE", ["jetstream: enabled", "users: [", ...indented(users, 2), "]"]),
      "# What the servers say about themselves.",
      ...block("SYSTEM", ["users: [", ...indented(user(systemLogin, permissionsOfSystem), 2), "]"])
    ]),
    "system_account: SYSTEM"
  ]
  return `${lines.join("\n")}\n`
}

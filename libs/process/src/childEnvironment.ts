/** Variables that would redirect git to another repository (`GIT_*`), and Reprise's own credentials. */
const withheld = /^(GIT_|REPRISE_|NATS_|OPENCODE_)/i

/**
 * The environment of every command in a workspace: this process's own, without the withheld variables
 * (docs/design/workspace.md#workspace).
 */
export const childEnvironment = (host: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(host).flatMap(([name, value]) =>
      value === undefined || withheld.test(name) ? [] : [[name, value] as const]
    )
  )

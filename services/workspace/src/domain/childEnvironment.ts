/**
 * The environment that commands of a workspace run in: the host's own, without what would bend git to another
 * repository (`GIT_*`) and without Reprise's credentials (workspace: Quality gates). Pure.
 */
const withheld = /^(GIT_|REPRISE_|NATS_|OPENCODE_)/i

export const childEnvironment = (host: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(host).flatMap(([name, value]) =>
      value === undefined || withheld.test(name) ? [] : [[name, value] as const]
    )
  )

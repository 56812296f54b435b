/** The environment of the OpenCode server and its tools. Pure. */

/** Reprise's own settings and credentials. */
const ours = /^(REPRISE_|NATS_)/
/** Set by an OpenCode that started us; with them our OpenCode would act as that one. */
const outerOpenCode = new Set([
  "OPENCODE",
  "OPENCODE_PID",
  "OPENCODE_CLIENT",
  "OPENCODE_SERVER_PASSWORD",
  "OPENCODE_SERVER_USERNAME"
])
/** Set by git for its hooks; a tool's git would work on that repository instead of its own. */
const outerGit =
  /^GIT_(DIR|WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|COMMON_DIR|NAMESPACE|PREFIX)$/

/** The user's environment (configuration, XDG directories, provider keys) without Reprise's variables and an outer tool's. */
export const serverEnvironment = (
  environment: Readonly<Record<string, string | undefined>>,
  password: string
): Record<string, string> => {
  const kept = Object.entries(environment).flatMap(([name, value]) =>
    value === undefined || ours.test(name) || outerGit.test(name) || outerOpenCode.has(name) ? [] : [[name, value]]
  )
  return {
    ...Object.fromEntries(kept),
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_SERVER_PASSWORD: password
  }
}

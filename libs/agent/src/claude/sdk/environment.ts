/** The environment of Claude and its tools. Pure. */

/** Reprise's own settings and credentials. */
const ours = /^(REPRISE_|NATS_)/
/** Set by a Claude that started us; with them our Claude would act as a part of that one. */
const outerClaude =
  /^(CLAUDECODE|CLAUDE_CODE_(ENTRYPOINT|SSE_PORT|SESSION_ID|SESSION_KIND|SESSION_NAME|CHILD_SESSION|RESUME_[A-Z_]+)|CLAUDE_AGENT_SDK_VERSION|CLAUDE_BG_[A-Z_]+)$/
/** Set by git for its hooks; a tool's git would work on that repository instead of its own. */
const outerGit =
  /^GIT_(DIR|WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|COMMON_DIR|NAMESPACE|PREFIX)$/

/**
 * The user's environment (configuration, credentials, proxies) without Reprise's variables and those of an outer tool.
 * The retry watchdog makes Claude wait out temporary failures and report them; without it Claude gives up at once on a
 * long `retry-after` and does not say how long it is (measured). No background task outlives a turn.
 */
export const claudeEnvironment = (
  environment: Readonly<Record<string, string | undefined>>
): Record<string, string> => {
  const kept = Object.entries(environment).flatMap(([name, value]) =>
    value === undefined || ours.test(name) || outerGit.test(name) || outerClaude.test(name) ? [] : [[name, value]]
  )
  return {
    ...Object.fromEntries(kept),
    DISABLE_AUTOUPDATER: "1",
    CLAUDE_CODE_RETRY_WATCHDOG: "1",
    CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: "1"
  }
}

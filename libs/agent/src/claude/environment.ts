/** The environment of Claude, which its tools inherit. Pure. */

/** Reprise's own settings and credentials. */
const ours = /^(REPRISE_|NATS_)/
/** Set by a Claude that we were started from; they would make ours take itself for a part of that one. */
const outerClaude =
  /^(CLAUDECODE|CLAUDE_CODE_(ENTRYPOINT|SSE_PORT|SESSION_ID|SESSION_KIND|SESSION_NAME|CHILD_SESSION|RESUME_[A-Z_]+)|CLAUDE_AGENT_SDK_VERSION|CLAUDE_BG_[A-Z_]+)$/
/** Set by git for its hooks; a tool's git would work on that repository instead of its own (lessons). */
const outerGit =
  /^GIT_(DIR|WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|COMMON_DIR|NAMESPACE|PREFIX)$/

/**
 * The user's environment (configuration, credentials, proxies) without what is ours or an outer tool's. Claude waits
 * for what passes and tells of it (without the watchdog it gives up at once on a long `retry-after`, and does not say
 * how long it is: measured), and leaves nothing running when a turn is over.
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

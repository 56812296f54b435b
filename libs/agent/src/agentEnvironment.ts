/** The environments of the agents' programs and their tools. Pure. */

type Environment = Readonly<Record<string, string | undefined>>

/** Reprise's own settings and credentials. */
const ours = /^(REPRISE_|NATS_)/
/** Set by git for its hooks; a tool's git would work on that repository instead of its own. */
const outerGit =
  /^GIT_(DIR|WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|COMMON_DIR|NAMESPACE|PREFIX)$/
/** Set by a Claude that started us; with them our Claude would act as a part of that one. */
const outerClaude =
  /^(CLAUDECODE|CLAUDE_CODE_(ENTRYPOINT|SSE_PORT|SESSION_ID|SESSION_KIND|SESSION_NAME|CHILD_SESSION|RESUME_[A-Z_]+)|CLAUDE_AGENT_SDK_VERSION|CLAUDE_BG_[A-Z_]+)$/
/** Set by an OpenCode that started us; with them our OpenCode would act as that one. */
const outerOpenCode = /^OPENCODE(_PID|_CLIENT|_SERVER_PASSWORD|_SERVER_USERNAME)?$/

/** The user's environment (configuration, credentials, proxies) without Reprise's variables and those of an outer tool. */
const inherited = (environment: Environment, outerAgent: RegExp): Record<string, string> =>
  Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      value === undefined || [ours, outerGit, outerAgent].some((one) => one.test(name)) ? [] : [[name, value]]
    )
  )

/**
 * The retry watchdog makes Claude wait out temporary failures and report them; without it Claude gives up at once on a
 * long `retry-after` and does not say how long it is (measured). No background task outlives a turn. Attachments off:
 * `@path` in a prompt would be read outside of the sandbox, without a question, and prompts quote agents.
 */
export const claudeEnvironment = (environment: Environment): Record<string, string> => ({
  ...inherited(environment, outerClaude),
  DISABLE_AUTOUPDATER: "1",
  CLAUDE_CODE_RETRY_WATCHDOG: "1",
  CLAUDE_CODE_DISABLE_ATTACHMENTS: "1",
  CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: "1"
})

/**
 * An agent of any kind: nothing of another agent that started us may make it a part of that one. `opencode acp` also listens on
 * the loopback, which every user and every web page can reach, and without a password does for anybody what it is asked.
 */
export const acpEnvironment = (environment: Environment, password: string): Record<string, string> => ({
  ...inherited(environment, new RegExp(`${outerClaude.source}|${outerOpenCode.source}`)),
  OPENCODE_SERVER_PASSWORD: password
})

/** `guarded`: what the sandbox sets, such as the program that runs commands in place of the user's shell. */
export const openCodeEnvironment = (
  environment: Environment,
  password: string,
  guarded: Environment = {}
): Record<string, string> => ({
  ...inherited({ ...environment, ...guarded }, outerOpenCode),
  OPENCODE_DISABLE_AUTOUPDATE: "1",
  OPENCODE_SERVER_PASSWORD: password
})

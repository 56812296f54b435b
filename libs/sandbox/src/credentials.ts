/** Where keys and credentials usually are. What stands here is shown by `reprise sandbox explain`. */

/** Files and folders below the home folder that no command may read. */
export const credentialPaths: ReadonlyArray<string> = [
  ".ssh",
  ".gnupg",
  ".aws",
  ".azure",
  ".kube",
  ".docker",
  ".netrc",
  ".git-credentials",
  ".npmrc",
  ".pypirc",
  ".pgpass",
  ".my.cnf",
  ".vault-token",
  ".terraform.d/credentials.tfrc.json",
  ".gem/credentials",
  ".cargo/credentials",
  ".cargo/credentials.toml",
  ".m2/settings.xml",
  ".gradle/gradle.properties",
  ".nuget/NuGet/NuGet.Config",
  ".composer/auth.json",
  ".password-store",
  ".mozilla",
  ".thunderbird",
  ".claude.json",
  ".claude/.credentials.json",
  ".codex",
  ".bash_history",
  ".zsh_history",
  ".node_repl_history",
  ".python_history",
  ".psql_history",
  ".config/reprise",
  ".config/gh",
  ".config/glab-cli",
  ".config/gcloud",
  ".config/doctl",
  ".config/hub",
  ".config/git/credentials",
  ".config/op",
  ".config/rclone",
  ".config/google-chrome",
  ".config/chromium",
  ".config/opencode",
  ".config/github-copilot",
  ".local/share/opencode",
  ".local/share/keyrings",
  ".local/state/reprise",
  ".local/share/reprise"
]

/**
 * Names of variables, as patterns of a shell, that no command inside gets: keys, tokens, ways to programs that sign for the
 * user, and the settings of agents' programs, which may hold keys.
 */
export const withheldVariables: ReadonlyArray<string> = [
  ...[
    "KEY",
    "KEY_ID",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "CREDENTIAL",
    "CREDENTIALS",
    "AUTH"
  ].flatMap((word) => [`*_${word}`, `*_${word.toLowerCase()}`]),
  ...["*TOKEN*", "*SECRET*", "*PASSWORD*", "*CREDENTIAL*", "*ACCESS_KEY*", "*API_KEY*", "*APIKEY*", "*PRIVATE_KEY*"],
  ...[
    "NATS_*",
    "REPRISE_NATS*",
    "OPENCODE_SERVER_*",
    "OPENCODE_CONFIG_CONTENT",
    "ANTHROPIC_*",
    "OPENAI_*",
    "OTEL_*_HEADERS"
  ],
  ...["SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"],
  ...["DOCKER_HOST", "KUBECONFIG", "DISPLAY", "WAYLAND_DISPLAY", "PGPASSFILE"]
]

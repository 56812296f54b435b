/** Every setting, from the table that the loader uses. */
import { environmentName, type Setting, settingsTable } from "../../cli/src/config/settingsTable.ts"
import { jsonSchemaOf, jsonType, type Names } from "./fields.ts"
import { code, generated, page, table } from "./markdown.ts"

const noNames: Names = { ofSchema: new Map(), ofJson: new Map() }

const fallback = ({ fallback: value }: Setting): string => (value === undefined ? "unset" : code(JSON.stringify(value)))

const typeOf = (setting: Setting): string => {
  const json = jsonSchemaOf(setting.schema)
  return json["type"] === "number" && json["minimum"] === 0 ? "number from 0" : jsonType(json, noNames)
}

const rows = (wanted: string): ReadonlyArray<ReadonlyArray<string>> =>
  settingsTable
    .filter(({ section }) => section === wanted)
    .map((setting) => [
      code(setting.key),
      typeOf(setting),
      fallback(setting),
      code(environmentName(setting.path)),
      setting.description
    ])

const sections = [...new Set(settingsTable.map(({ section }) => section))]

/** Variables that are not settings of `reprise.toml`: they name programs, folders and secrets of this machine. */
export const otherVariables: ReadonlyArray<readonly [string, string]> = [
  [
    "REPRISE_NATS_SERVER",
    "Path of the `nats-server` program. Default: the one on the `PATH`, then in the cache, then a downloaded one."
  ],
  ["REPRISE_NATS_FETCH", "`never`: do not download `nats-server` from the system's package mirror."],
  [
    "REPRISE_OPENCODE",
    "Path of the `opencode` program. Default: the one of the npm package, then the one on the `PATH`."
  ],
  [
    "REPRISE_CLAUDE",
    "Path of the `claude` program. Default: the one in `@anthropic-ai/claude-agent-sdk`, which is needed in any case: beside Reprise, or beside that program."
  ],
  [
    "REPRISE_HOST",
    "Name of this host in subjects, for `reprise serve`. Each host on a broker needs its own. Default: `local`."
  ],
  [
    "REPRISE_HOST_RUNS",
    "How many runs the host of a workspace service may have at work at a time; further ones wait, or go to another host. 0: any number, the default."
  ],
  [
    "REPRISE_HEALTH_ADDRESS",
    "Where `reprise serve` answers `/livez` and `/readyz` over HTTP, as `host:port`. Default: nowhere."
  ],
  [
    "REPRISE_GIT_CREDENTIALS_FILE",
    "File with the logins of a host for git remotes, a line `https://USER:TOKEN@HOST` for each, as git's credential store has them. Default: what the user's own configuration of git says."
  ],
  ["REPRISE_GIT_SSH_KEY_FILE", "File with the key of a host for git remotes over ssh. Default: as ssh is configured."],
  [
    "REPRISE_GIT_KNOWN_HOSTS_FILE",
    "File with the keys of the servers that ssh may talk to, and no others. Default: as ssh is configured."
  ],
  ["REPRISE_GIT_CA_FILE", "File with the CA certificate for the git server."],
  ["REPRISE_STATE", "Where a session-manager in a container stores the state of its OpenCode. Default: `.reprise`."],
  ["OPENCODE_SERVER_PASSWORD", "Password of the server at `opencode.url`."],
  ["XDG_CONFIG_HOME", "Where this machine keeps what you trust and allow, in `reprise`. Default: `~/.config`."],
  ["XDG_CACHE_HOME", "Where a downloaded `nats-server` is stored, in `reprise/nats-server`. Default: `~/.cache`."],
  [
    "XDG_DATA_HOME",
    "Where a host keeps its clones of git remotes, in `reprise/repositories`. Default: `~/.local/share`."
  ],
  ["NO_COLOR", "If set, no colour is used."]
]

export const configurationPage = (): string =>
  page([
    generated("cli/src/config/settingsTable.ts"),
    "# Configuration",
    "Settings are read from these places. A later place overrides an earlier one.",
    "1. the defaults below\n2. `reprise.toml` in the repository's root\n3. `reprise.local.toml` beside it, for personal settings\n4. `gates` and `limits` in the front matter of the plan\n5. environment variables\n6. flags of the command",
    "`reprise init` writes a `reprise.toml` with every setting and its meaning. `reprise config explain PLAN` shows each value and its source. The file's JSON schema is [reprise.schema.json](reprise.schema.json). An unknown key is refused, with a suggestion.",
    "In the environment, lists are JSON: `REPRISE_GATES_QUALITY='[\"npm test\"]'`. An empty variable counts as unset.",
    ...sections.flatMap((section) => [
      section === "" ? "## Top level" : `## [${section}]`,
      table(["key", "type", "default", "environment", "meaning"], rows(section))
    ]),
    "## Other variables",
    "These are not settings of `reprise.toml`.",
    table(
      ["variable", "meaning"],
      otherVariables.map(([name, meaning]) => [code(name), meaning])
    )
  ])

/** Every setting, from the table that the loader uses. */
import { environmentName, type Setting, settingsTable } from "../../cli/src/config/settings.ts"
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

/** Variables that are no setting of `reprise.toml`: they name programs, places and secrets of this machine. */
export const otherVariables: ReadonlyArray<readonly [string, string]> = [
  [
    "REPRISE_NATS_SERVER",
    "Path of the `nats-server` program to start. Else: one on the `PATH`, the cache, a fetched one."
  ],
  ["REPRISE_NATS_FETCH", "`never`: `nats-server` is not fetched from the system's package mirror."],
  ["REPRISE_OPENCODE", "Path of the `opencode` program. Else: the one of the npm package, then one on the `PATH`."],
  ["REPRISE_CLAUDE", "Path of the `claude` program. Else: the one that `@anthropic-ai/claude-agent-sdk` brings."],
  ["REPRISE_HOST", "Name of this host in subjects, for `reprise serve`. Default: `local`."],
  ["REPRISE_STATE", "Where a session-manager in a container keeps the state of its OpenCode. Default: `.reprise`."],
  ["OPENCODE_SERVER_PASSWORD", "Password of the server at `opencode.url`."],
  ["XDG_CONFIG_HOME", "Where trust is remembered: `reprise/trust.json` in it. Default: `~/.config`."],
  ["XDG_CACHE_HOME", "Where a fetched `nats-server` is kept: `reprise/nats-server` in it. Default: `~/.cache`."],
  ["NO_COLOR", "Set to anything: no colour."]
]

export const configurationPage = (): string =>
  page([
    generated("cli/src/config/settings.ts"),
    "# Configuration",
    "Settings are looked for in this order. A later place wins.",
    "1. the defaults below\n2. `reprise.toml` in the repository's root\n3. `reprise.local.toml` beside it, for what is yours alone\n4. `gates` and `limits` in the front matter of the plan\n5. environment variables\n6. flags of the command",
    "`reprise init` writes a `reprise.toml` with every setting and its meaning. `reprise config explain PLAN` shows each value and where it came from. The file's JSON schema is [reprise.schema.json](reprise.schema.json). A key that is not known is refused, with the nearest one that is.",
    "In the environment, lists are JSON: `REPRISE_GATES_QUALITY='[\"npm test\"]'`. An empty variable counts as not set.",
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

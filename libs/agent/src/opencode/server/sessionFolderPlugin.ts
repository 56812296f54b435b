/**
 * A plugin that tells each command of OpenCode the folder of its session. The sandbox goes by it: where a command begins is
 * the agent's choice. Pure.
 */
import { sessionFolder } from "@reprise/sandbox"
import { Result, Schema } from "effect"

export const pluginText = `// Written by Reprise for the OpenCode that it runs. Do not edit.
export const SessionFolder = async ({ directory }) => ({
  "shell.env": async (_, output) => {
    output.env.${sessionFolder} = directory
  }
})
`

type Environment = Readonly<Record<string, string | undefined>>

const Content = Schema.fromJsonString(
  Schema.StructWithRest(Schema.Struct({ plugin: Schema.optionalKey(Schema.Array(Schema.Unknown)) }), [
    Schema.Record(Schema.String, Schema.Unknown)
  ])
)

interface NotLoaded {
  readonly problem: string
  /** The next step. */
  readonly next: string
}

/** The variables that have OpenCode load the plugin beside those of the user, or why it would not. */
export const loadPlugin = (environment: Environment, url: string): Result.Result<Record<string, string>, NotLoaded> => {
  if (/^(1|true)$/i.test(environment["OPENCODE_PURE"] ?? "")) {
    return Result.fail({
      problem: "OPENCODE_PURE keeps OpenCode from loading plugins, and the sandbox needs one.",
      next: 'Unset it, or set sandbox.mode to "off".'
    })
  }
  return Schema.decodeResult(Content)(environment["OPENCODE_CONFIG_CONTENT"] || "{}").pipe(
    Result.map((content) => ({
      OPENCODE_CONFIG_CONTENT: JSON.stringify({ ...content, plugin: [...(content.plugin ?? []), url] })
    })),
    Result.mapError(() => ({
      problem: "OPENCODE_CONFIG_CONTENT cannot be read as JSON with a list of plugins, to which the sandbox adds one.",
      next: "Write it without comments, or put the settings into opencode.json."
    }))
  )
}

/** Why an OpenCode with these variables would not be started in the sandbox; undefined: it would. */
export const unguardedBy = (environment: Environment): NotLoaded | undefined =>
  Result.getOrUndefined(Result.flip(loadPlugin(environment, "")))

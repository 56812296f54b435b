/** The settings that Reprise adds to those of the user for the OpenCode that it runs. Pure. */
import { Result, Schema } from "effect"

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Programs that OpenCode starts by itself outside of the sandbox, in a tree that agents write: git, which enters repositories
 * inside of the tree after each step; formatters, several of which are looked up in the tree; language servers, which load
 * plugins from it (docs/agents.md#what-reprise-switches-off).
 */
const switchedOff = { snapshot: false, formatter: false, lsp: false }

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

/**
 * The variables that make OpenCode obey these settings beside the user's, and load a plugin, or why it would not. `plugin`: an
 * address of a file.
 */
export const withOwnSettings = (
  environment: Environment,
  plugin?: string
): Result.Result<Record<string, string>, NotLoaded> => {
  if (plugin !== undefined && /^(1|true)$/i.test(environment["OPENCODE_PURE"] ?? "")) {
    return Result.fail({
      problem: "OPENCODE_PURE keeps OpenCode from loading plugins, and the sandbox needs one.",
      next: 'Unset it, or set sandbox.mode to "off".'
    })
  }
  return Schema.decodeResult(Content)(environment["OPENCODE_CONFIG_CONTENT"] || "{}").pipe(
    Result.map((content) => {
      const plugins = plugin === undefined ? {} : { plugin: [...(content.plugin ?? []), plugin] }
      return { OPENCODE_CONFIG_CONTENT: JSON.stringify({ ...content, ...switchedOff, ...plugins }) }
    }),
    Result.mapError(() => ({
      problem:
        "OPENCODE_CONFIG_CONTENT cannot be read as JSON with a list of plugins, to which Reprise adds its own settings.",
      next: "Write it without comments, or put the settings into opencode.json."
    }))
  )
}

/** Why an OpenCode with these variables would not be started in the sandbox; undefined: it would. */
export const unguardedBy = (environment: Environment): NotLoaded | undefined =>
  Result.getOrUndefined(Result.flip(withOwnSettings(environment, "")))

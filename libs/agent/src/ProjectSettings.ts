/**
 * The settings that a repository brings for an agent's runtime: servers, plugins, hooks, providers and rules, which run
 * commands or send the user's keys elsewhere. Whether they may be read is for whoever starts the runtime to say
 * (docs/design/workspace.md#workspace).
 */
import { Effect } from "effect"
import { AgentError } from "./AgentError.ts"

/**
 * `trusted`: all are the user's own, or a human trusts them as they are. `refused`: they are not trusted. A runtime
 * that can leave them out does so; any other does not work in that directory. `detail` says what to do, for people.
 */
export type ProjectVerdict = { readonly _tag: "trusted" } | { readonly _tag: "refused"; readonly detail: string }

/** The verdict about the settings in a directory, as they are now. */
export type ProjectSettings = (directory: string) => Effect.Effect<ProjectVerdict>

/** For whoever vouches for every repository, such as the operator of a container. */
export const allTrusted: ProjectSettings = () => Effect.succeed({ _tag: "trusted" })

/** Fails if a runtime that reads the settings, whatever it is told, may not work in the directory. */
export const requireTrustedSettings = Effect.fnUntraced(function* (
  settings: ProjectSettings,
  operation: string,
  directory: string
) {
  const verdict = yield* settings(directory)
  if (verdict._tag === "trusted") return
  return yield* new AgentError({ kind: "other", operation, detail: verdict.detail, sessionUsable: true })
})

/** How many tokens each model takes, as OpenCode knows it: asked once for a directory and model, since the list is long. */
import { Effect } from "effect"
import type { Calls } from "./calls.ts"

/** `provider/model` of a directory to its window in tokens; undefined when OpenCode does not tell. */
export type ContextLimit = (directory: string, model: string) => Effect.Effect<number | undefined>

export const makeContextLimit = (calls: Calls): ContextLimit => {
  const known = new Map<string, number>()
  return (directory, model) =>
    Effect.suspend(() => {
      const key = `${directory}\n${model}`
      const before = known.get(key)
      if (before !== undefined) return Effect.succeed(before)
      return calls
        .once("context limit", (client, signal) => client.config.providers({ directory }, { signal }))
        .pipe(
          Effect.map(({ providers }) => {
            for (const provider of providers) {
              for (const [name, { limit }] of Object.entries(provider.models)) {
                if (limit.context > 0) known.set(`${directory}\n${provider.id}/${name}`, limit.context)
              }
            }
            return known.get(key)
          }),
          Effect.orElseSucceed(() => undefined)
        )
    })
}

/** The context windows of models. The list is long, so it is read once for each directory and model. */
import { Effect } from "effect"
import type { Calls } from "../server/calls.ts"

/** The window of `provider/model` in tokens; undefined when OpenCode does not know it. */
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

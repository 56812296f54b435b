/** `reprise complete KIND`, which a shell asks while somebody types. It is quick and quiet, and starts nothing. */
import { Effect, Fiber, Option, References } from "effect"
import { isInitialised } from "../../project/Project.ts"
import { clientOptions, lookingSystem } from "../../system/clientSystem.ts"
import { currentIds, rememberedIds } from "../../system/lookUp/ids.ts"
import { usesRemote } from "../../system/SystemOptions.ts"
import type { IdKind } from "../../terminal/idKinds.ts"
import { data } from "../../terminal/Printer.ts"
import { requireTrusted } from "../../trust/requireTrust.ts"
import { credentialSettings, serverSettings } from "../../trust/trustedSettings.ts"

/** Whatever takes longer is left behind: the process ends. */
const within = <A, E, R>(duration: "2 seconds" | "3 seconds", effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Effect.forkDetach(effect), (fiber) => Effect.timeout(Fiber.join(fiber), duration))

const ask = Effect.fnUntraced(function* () {
  const { config, options } = yield* clientOptions({ nats: Option.none() })
  const { project } = options
  const isRemote = usesRemote(options)
  if (!isRemote && !isInitialised(project)) return undefined
  yield* requireTrusted(project, config, isRemote ? serverSettings : credentialSettings)
  const asked = within("2 seconds", Effect.provide(currentIds, lookingSystem(options)))
  return yield* isRemote ? asked : Effect.catchCause(asked, () => rememberedIds(project))
})

/** Prints nothing where nobody knows, and never says why: somebody is typing. */
export const printIds = ({ kind }: { readonly kind: IdKind }) =>
  within("3 seconds", ask()).pipe(
    Effect.catchCause(() => Effect.succeed(undefined)),
    Effect.tap((ids) =>
      Effect.sync(() => {
        const lines = ids?.[kind] ?? []
        if (lines.length > 0) data(lines.join("\n"))
      })
    ),
    Effect.provideService(References.MinimumLogLevel, "None")
  )

/** `reprise serve SERVICE`: loads what that service needs, and nothing of the others. */
import type { ServiceName } from "@reprise/protocol"
import { Effect } from "effect"
import type { ClientFlags } from "../../system/clientSystem.ts"

interface Flags extends ClientFlags {
  readonly service: ServiceName | "console"
}

export const serve = Effect.fn("serve")(function* ({ service, ...flags }: Flags) {
  if (service === "console") {
    const { serveConsole } = yield* Effect.promise(() => import("./serveConsole.ts"))
    return yield* serveConsole(flags)
  }
  const { serveService } = yield* Effect.promise(() => import("./serveService.ts"))
  return yield* serveService({ ...flags, service })
})

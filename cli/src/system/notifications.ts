/** What the gate needs for notifications, from the settings and this machine's secrets. */
import { type NotifyOptions, resolveChannels } from "@reprise/gate"
import { Effect } from "effect"
import type { Settings } from "../config/settingsTable.ts"
import { missing } from "../terminal/CliFailure.ts"

/** Fails with exit code 3 if a secret is missing or an address is not valid. */
export const notifyOptions = Effect.fn("notifyOptions")(function* ({ notify, web }: Settings) {
  const channels = yield* resolveChannels(notify.channels, process.env).pipe(
    Effect.mapError((error) => missing("notify", error.message, error.hint, error))
  )
  return {
    channels,
    batchMs: notify.batchMs,
    ...(web.origin === undefined ? {} : { origin: web.origin }),
    ...(notify.quietHours === undefined ? {} : { quietHours: notify.quietHours })
  } satisfies NotifyOptions
})

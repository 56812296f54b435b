/** What the gate needs for notifications, from the settings and this machine's secrets. */

import { type NotifyOptions, type ReminderSettings, resolveChannels } from "@reprise/gate"
import { defined } from "@reprise/protocol"
import { Effect } from "effect"
import type { Settings } from "../config/settingsTable.ts"
import { missing } from "../terminal/CliFailure.ts"
import { sharedAnswerKey } from "./webSecrets.ts"

/** On a cluster the machine that takes a notification is nobody's desk. */
const requireNoDesktop = ({ channels }: Settings["notify"]) => {
  const name = Object.keys(channels).find((one) => channels[one]?.preset === "desktop")
  return name === undefined
    ? Effect.void
    : missing(
        "notify",
        `Notification channel '${name}' shows notices on the desktop of the machine that does the work. With a NATS server that others share, that may be any machine.`,
        "Take it out of notify.channels, or choose another preset."
      )
}

/**
 * `isShared`: the broker is a server that others run. Fails with exit code 3 if a secret or a program is missing, an
 * address is not valid, or a channel does not go with the broker.
 */
export const notifyOptions = Effect.fn("notifyOptions")(function* (settings: Settings, isShared: boolean) {
  const { notify, web } = settings
  if (isShared) yield* requireNoDesktop(notify)
  const channels = yield* resolveChannels(notify.channels, process.env).pipe(
    Effect.mapError((error) => missing("notify", error.message, error.hint, error))
  )
  const answerKey = yield* sharedAnswerKey(settings)
  return {
    channels,
    batchMs: notify.batchMs,
    remindAfterMs: notify.remindAfterMs,
    remindEveryMs: notify.remindEveryMs,
    ...defined({ origin: web.origin, answerKey, quietHours: notify.quietHours })
  } satisfies NotifyOptions & ReminderSettings
})

/** The gate service: actors that keep questions to humans until they are answered, and a worker that notifies people. */
import { actorLayer } from "@reprise/actor"
import { Layer } from "effect"
import { escalationActor, escalationActorWith } from "./actor/actor.ts"
import type { GateSettings } from "./actor/decide.ts"
import { defaultReminders, type ReminderSettings } from "./actor/reminders.ts"
import { type NotifyOptions, notifyWorker } from "./work/notify/notifyWorker.ts"

/** Without notifications. Runs with any number of replicas. */
export const layer = actorLayer(escalationActor)

/** Decides and answers queries, and delivers no notification; those of new questions are asked for, for its channels. */
export const actorsWith = (settings: GateSettings) => actorLayer(escalationActorWith(() => settings))

/** The whole service. Runs with any number of replicas: whichever is free delivers. */
export const layerWith = (options: NotifyOptions & Partial<ReminderSettings>) => {
  const { channels, push, remindAfterMs, remindEveryMs } = { ...defaultReminders, ...options }
  const names = channels.map(({ name }) => name)
  const actors = actorLayer(
    escalationActorWith(() => ({ channels: [...names, ...(push?.names() ?? [])], remindAfterMs, remindEveryMs }))
  )
  return names.length === 0 && push === undefined ? actors : Layer.merge(actors, notifyWorker(options))
}

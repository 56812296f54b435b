/** `reprise notify test [CHANNEL]`: sends a test message through each configured channel, and says what happened. */
import { randomUUID } from "node:crypto"
import { type Channel, type Outcome, send } from "@reprise/gate"
import { Clock, Effect, Option } from "effect"
import { loadConfig } from "../../config/loadConfig.ts"
import type { Settings } from "../../config/settingsTable.ts"
import { findProject } from "../../project/findProject.ts"
import type { Project } from "../../project/Project.ts"
import { notifyOptions } from "../../system/notifications.ts"
import { knownPushBrowsers } from "../../system/pushBrowsers.ts"
import { exitWith, missing, wrongUse } from "../../terminal/CliFailure.ts"
import { exitCodes } from "../../terminal/exitCodes.ts"
import { data, okJson } from "../../terminal/Printer.ts"
import { requireTrusted } from "../../trust/requireTrust.ts"
import { notifySettings } from "../../trust/trustedSettings.ts"
import { table } from "../../views/table.ts"

interface Flags {
  readonly channel: Option.Option<string>
  readonly json: boolean
}

/** Why a channel, or somebody of it, does not have the message. */
const reasonOf = (outcome: Outcome): { readonly reason?: string } => {
  const reason = outcome._tag === "Delivered" ? outcome.warning : outcome.reason
  return reason === undefined ? {} : { reason }
}

const resultOf = ({ delivered, reason }: { readonly delivered: boolean; readonly reason?: string }): string => {
  const result = delivered ? "delivered" : "not delivered"
  return reason === undefined ? result : `${result}${delivered ? ", but " : ": "}${reason}`
}

const tryChannel = Effect.fnUntraced(function* (channel: Channel) {
  const before = yield* Clock.currentTimeMillis
  const outcome = yield* send(channel, [{ _tag: "Test", id: `test-${randomUUID()}` }])
  const durationMs = (yield* Clock.currentTimeMillis) - before
  return {
    channel: channel.name,
    preset: channel.preset,
    delivered: outcome._tag === "Delivered",
    durationMs,
    ...reasonOf(outcome)
  }
})

const chosen = (channels: ReadonlyArray<Channel>, name: Option.Option<string>) => {
  if (channels.length === 0) {
    return missing(
      "no-channels",
      "No channel for notifications is configured.",
      "Add one to notify.channels in reprise.toml; docs/notifications.md has examples."
    )
  }
  if (Option.isNone(name)) return Effect.succeed(channels)
  const found = channels.filter((one) => one.name === name.value)
  return found.length > 0
    ? Effect.succeed(found)
    : wrongUse(
        "unknown-channel",
        `There is no channel '${name.value}' for notifications.`,
        `Configured are: ${channels.map((one) => one.name).join(", ")}.`
      )
}

/** The configured ones, and the browsers that are told while no page is open. */
const channelsOf = Effect.fnUntraced(function* (project: Project, settings: Settings) {
  const isShared = settings.nats.url !== undefined
  const { channels } = yield* notifyOptions(settings, isShared)
  const push = isShared ? undefined : yield* knownPushBrowsers(project, settings)
  const browsers = push?.names().flatMap((name) => push.channelOf(name) ?? []) ?? []
  return [...channels, ...browsers]
})

/** Ends with exit code 3 unless every channel took its message. */
export const testChannels = Effect.fn("testChannels")(function* ({ channel, json }: Flags) {
  const project = yield* findProject(process.cwd())
  const config = yield* loadConfig(project.root)
  yield* requireTrusted(project, config, notifySettings)
  const channels = yield* channelsOf(project, config.settings)
  const sent = yield* Effect.forEach(yield* chosen(channels, channel), tryChannel, { concurrency: 4 })
  if (json) okJson(sent)
  else {
    const rows = sent.map((one) => [one.channel, one.preset, resultOf(one), `${one.durationMs} ms`])
    data(table(["channel", "preset", "result", "time"], rows))
  }
  if (!sent.every(({ delivered }) => delivered)) return yield* exitWith(exitCodes.missing)
})

/** The configured channels, with the secrets that the settings refer to. */
import { homedir } from "node:os"
import { readRegularFile } from "@reprise/process"
import { Effect, Redacted, Schema } from "effect"
import {
  addressProblem,
  type ChannelSettings,
  type ChannelTable,
  type Preset,
  readReference,
  telegramAddress
} from "../../notify/ChannelSettings.ts"

export interface Channel {
  readonly name: string
  readonly preset: Preset
  /** Whoever knows it may be able to write to the channel. */
  readonly url: Redacted.Redacted
  /** Signs the requests. */
  readonly secret?: Redacted.Redacted
  readonly token?: Redacted.Redacted
  /** Of Telegram. */
  readonly chat?: string
  readonly reminders: boolean
}

/** A channel that cannot be used: what is missing, and the next step. It never holds a secret. */
export class ChannelProblem extends Schema.TaggedError<ChannelProblem>()("ChannelProblem", {
  channel: Schema.String,
  message: Schema.String,
  hint: Schema.String
}) {}

const longestSecretBytes = 16 * 1024

type Environment = Readonly<Record<string, string | undefined>>

const readSecret = Effect.fnUntraced(function* (
  channel: string,
  field: string,
  reference: string,
  environment: Environment
) {
  const problem = (message: string, hint: string) => new ChannelProblem({ channel, message, hint })
  const place = readReference(reference)
  if (place === undefined) return reference
  if (place._tag === "Environment") {
    const value = environment[place.name]?.trim() ?? ""
    return value === ""
      ? yield* problem(
          `The ${field} of notification channel '${channel}' is missing: ${place.name} is not set.`,
          `Set the environment variable ${place.name}, or take the channel out of notify.channels.`
        )
      : value
  }
  const path = place.path.replace(/^~(?=\/)/, homedir())
  const text = yield* Effect.tryPromise({
    try: () => readRegularFile(path, longestSecretBytes),
    catch: () =>
      problem(
        `The ${field} of notification channel '${channel}' is missing: ${place.path} cannot be read.`,
        "It must be a file of at most 16 KB that you may read."
      )
  })
  const value = text.toString("utf8").trim()
  return value === ""
    ? yield* problem(
        `The ${field} of notification channel '${channel}' is missing: ${place.path} is empty.`,
        "Write the secret into that file, on one line."
      )
    : value
})

const resolveChannel = Effect.fnUntraced(function* (name: string, settings: ChannelSettings, environment: Environment) {
  const { chat, preset, reminders = true, url: address = telegramAddress } = settings
  const url = yield* readSecret(name, "address", address, environment)
  const problem = addressProblem(url, preset)
  if (problem !== undefined) {
    return yield* new ChannelProblem({
      channel: name,
      message: `The address of notification channel '${name}', from ${address}, is not valid.`,
      hint: `It must be ${problem}.`
    })
  }
  const secretOf = (field: "secret" | "token") =>
    settings[field] === undefined
      ? Effect.succeed({})
      : Effect.map(readSecret(name, field, settings[field], environment), (value) => ({
          [field]: Redacted.make(value)
        }))
  return {
    name,
    preset,
    url: Redacted.make(url),
    reminders,
    ...(chat === undefined ? {} : { chat }),
    ...(yield* secretOf("secret")),
    ...(yield* secretOf("token"))
  } satisfies Channel as Channel
})

/** The channels in the order of the settings. Fails with the first that cannot be used. */
export const resolveChannels = (table: ChannelTable, environment: Environment) =>
  Effect.forEach(Object.entries(table), ([name, settings]) => resolveChannel(name, settings, environment))

/** How `reprise.toml` names a channel for notifications (docs/notifications.md#channels). Secrets are only referred to. */
import { Schema } from "effect"

export const Preset = Schema.Literals(["webhook", "ntfy", "slack", "telegram"])
export type Preset = typeof Preset.Type

/** Where a secret is: in an environment variable, or in a file. */
export type SecretReference =
  | { readonly _tag: "Environment"; readonly name: string }
  | { readonly _tag: "File"; readonly path: string }

/** `env:NAME`, `file:/path` or `file:~/path`; undefined: the text is none of them. */
export const readReference = (text: string): SecretReference | undefined => {
  const name = /^env:([A-Za-z_][A-Za-z0-9_]*)$/.exec(text)?.[1]
  if (name !== undefined) return { _tag: "Environment", name }
  const path = /^file:((?:~\/|\/).+)$/.exec(text)?.[1]
  return path === undefined ? undefined : { _tag: "File", path }
}

/** What is wrong with an address that notifications are sent to; undefined: nothing. It never quotes the address. */
export const addressProblem = (url: string, preset: Preset): string | undefined => {
  if (!URL.canParse(url)) return "an address such as https://example.org/hook"
  const { password, pathname, protocol, username } = new URL(url)
  if (protocol !== "https:" && protocol !== "http:") return "an address that begins with https:// or http://"
  if (username !== "" || password !== "") return "an address without a user name or password"
  if (preset === "ntfy" && !/[^/]\/*$/.test(pathname))
    return "an address that ends in a topic, such as https://ntfy.sh/my-topic"
  return undefined
}

const reference = Schema.String.check(
  Schema.makeFilter(
    (text) =>
      readReference(text) !== undefined ||
      "Expected env:NAME or file:/path, so that the secret itself stays out of this file"
  )
)

/** Where bots of Telegram send, unless another server is named. */
export const telegramAddress = "https://api.telegram.org"

interface Fields {
  readonly preset: Preset
  readonly url?: string
  readonly secret?: string
  readonly token?: string
  readonly chat?: string
}

const urlProblem = ({ preset, url }: Fields): string | undefined => {
  if (url === undefined) return preset === "telegram" ? undefined : "a url"
  if (readReference(url) !== undefined) return undefined
  if (preset === "slack") return "url as env:NAME or file:/path: whoever knows a Slack webhook can post to it"
  const problem = addressProblem(url, preset)
  return problem === undefined ? undefined : `url to be ${problem}, or env:NAME, or file:/path`
}

/** What is wrong with the fields of a channel together; undefined: nothing. */
const channelProblem = (fields: Fields): string | undefined => {
  const { chat, preset, secret, token } = fields
  const problem = urlProblem(fields)
  if (problem !== undefined) return problem
  if (preset === "webhook" && secret === undefined)
    return 'a secret to sign with, as secret = "env:NAME" or "file:/path"'
  if (preset !== "webhook" && secret !== undefined) return "no secret: only the preset webhook signs"
  if (preset !== "ntfy" && preset !== "telegram" && token !== undefined)
    return "no token: only the presets ntfy and telegram take one"
  if (preset === "telegram" && (token === undefined || chat === undefined))
    return 'the bot\'s token, as token = "env:NAME" or "file:/path", and the id of a chat'
  if (preset !== "telegram" && chat !== undefined) return "no chat: only the preset telegram has one"
  return undefined
}

export const ChannelSettings = Schema.Struct({
  preset: Preset,
  /** The address, `env:NAME` or `file:/path`. Of ntfy: with the topic. Of Telegram: of the server, if it is another one. */
  url: Schema.optionalKey(Schema.NonEmptyString),
  /** Signs the requests of a webhook. */
  secret: Schema.optionalKey(reference),
  /** Access token of an ntfy server, or of a Telegram bot. */
  token: Schema.optionalKey(reference),
  /** Of Telegram: the id of a chat, or `@name` of a channel. */
  chat: Schema.optionalKey(
    Schema.String.check(
      Schema.isPattern(/^(-?\d{1,20}|@[A-Za-z0-9_]{1,64})$/, {
        message: "Expected the id of a chat, such as -100123, or @name"
      })
    )
  ),
  /** Whether it is reminded of questions that stay open. Default true. */
  reminders: Schema.optionalKey(Schema.Boolean)
}).check(
  Schema.makeFilter((channel) => {
    const problem = channelProblem(channel)
    return problem === undefined || `Expected ${problem}`
  })
)
export type ChannelSettings = typeof ChannelSettings.Type

/** It stands in ids of deliveries. */
export const ChannelName = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9_-]{1,32}$/, { message: "must be 1 to 32 letters, digits, '_' or '-'" })
)

/** The channels by their names. */
export const ChannelTable = Schema.Record(ChannelName, ChannelSettings)
export type ChannelTable = typeof ChannelTable.Type

/** For people who are to trust it: where the channel sends, and with which secrets. */
export const channelLine = (name: string, { chat, preset, secret, token, url }: ChannelSettings): string =>
  [
    `${name}: ${preset} to ${url ?? telegramAddress}${chat === undefined ? "" : `, chat ${chat}`}`,
    ...[secret, token].flatMap((one) => (one === undefined ? [] : [`with ${one}`]))
  ].join(", ")

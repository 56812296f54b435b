/** How `reprise.toml` names a channel for notifications (docs/notifications.md#channels). Secrets are only referred to. */
import { Schema } from "effect"
import { addressProblem, MailAddress, Preset, telegramAddress } from "./addresses.ts"

/** Those that send HTTP requests. */
export type HttpPreset = Exclude<Preset, "email" | "desktop">

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

/** A setting that refers to a secret. */
export const SecretSetting = Schema.String.check(
  Schema.makeFilter(
    (text) =>
      readReference(text) !== undefined ||
      "Expected env:NAME or file:/path, so that the secret itself stays out of this file"
  )
)

/** The fields besides `preset` and `reminders`, and the presets that take them. */
const takenBy = {
  url: ["webhook", "ntfy", "slack", "telegram", "email"],
  secret: ["webhook"],
  token: ["ntfy", "telegram"],
  chat: ["telegram"],
  user: ["email"],
  password: ["email"],
  from: ["email"],
  to: ["email"],
  answerLinks: ["webhook", "ntfy", "slack", "telegram", "email"]
} as const satisfies Record<string, ReadonlyArray<Preset>>
type Field = keyof typeof takenBy
const fieldNames = Object.keys(takenBy) as ReadonlyArray<Field>

type Fields = { readonly preset: Preset; readonly url?: string } & { readonly [name in Field]?: unknown }

/** `the preset email`, `the presets ntfy and telegram`. */
const presetNames = (presets: ReadonlyArray<Preset>): string =>
  presets.length === 1 ? `the preset ${presets[0]}` : `the presets ${presets.join(", ").replace(/, (\w+)$/, " and $1")}`

const strayProblem = (fields: Fields): string | undefined => {
  const stray = fieldNames.find((name) => {
    const presets: ReadonlyArray<Preset> = takenBy[name]
    return fields[name] !== undefined && !presets.includes(fields.preset)
  })
  return (
    stray && `no ${stray}: only ${presetNames(takenBy[stray])} ${takenBy[stray].length === 1 ? "takes" : "take"} one`
  )
}

const urlProblem = ({ preset, url }: Fields): string | undefined => {
  if (url === undefined) return preset === "telegram" || preset === "desktop" ? undefined : "a url"
  if (readReference(url) !== undefined) return undefined
  if (preset === "slack") return "url as env:NAME or file:/path: whoever knows a Slack webhook can post to it"
  const problem = addressProblem(url, preset)
  return problem === undefined ? undefined : `url to be ${problem}, or env:NAME, or file:/path`
}

const missingProblem = ({ chat, from, password, preset, secret, to, token, user }: Fields): string | undefined => {
  if (preset === "webhook" && secret === undefined)
    return 'a secret to sign with, as secret = "env:NAME" or "file:/path"'
  if (preset === "telegram" && (token === undefined || chat === undefined))
    return 'the bot\'s token, as token = "env:NAME" or "file:/path", and the id of a chat'
  if (preset !== "email") return undefined
  if (from === undefined || to === undefined) return "the addresses from and to, such as me@example.org"
  if ((user === undefined) !== (password === undefined))
    return 'user and password together, or neither, with password = "env:NAME" or "file:/path"'
  return undefined
}

/** What is wrong with the fields of a channel together; undefined: nothing. */
const channelProblem = (fields: Fields): string | undefined =>
  strayProblem(fields) ?? urlProblem(fields) ?? missingProblem(fields)

export const ChannelSettings = Schema.Struct({
  preset: Preset,
  /**
   * The address, `env:NAME` or `file:/path`. Of ntfy: with the topic. Of Telegram: of the server, if it is another one.
   * Of e-mail: `smtps://` or `smtp://` with the server.
   */
  url: Schema.optionalKey(Schema.NonEmptyString),
  /** Signs the requests of a webhook. */
  secret: Schema.optionalKey(SecretSetting),
  /** Access token of an ntfy server, or of a Telegram bot. */
  token: Schema.optionalKey(SecretSetting),
  /** Of Telegram: the id of a chat, or `@name` of a channel. */
  chat: Schema.optionalKey(
    Schema.String.check(
      Schema.isPattern(/^(-?\d{1,20}|@[A-Za-z0-9_]{1,64})$/, {
        message: "Expected the id of a chat, such as -100123, or @name"
      })
    )
  ),
  /** Of e-mail: who signs in at the server. */
  user: Schema.optionalKey(
    Schema.String.check(Schema.isPattern(/^[\x20-\x7e]{1,254}$/, { message: "Expected the name of a user" }))
  ),
  password: Schema.optionalKey(SecretSetting),
  /** Of e-mail. */
  from: Schema.optionalKey(MailAddress),
  to: Schema.optionalKey(Schema.Union([MailAddress, Schema.NonEmptyArray(MailAddress).check(Schema.isMaxLength(20))])),
  /** Whether its messages hold links that answer, where the web console has a public address. Default true. */
  answerLinks: Schema.optionalKey(Schema.Boolean),
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
  Schema.isPattern(/^(?!web-push-)[A-Za-z0-9_-]{1,32}$/, {
    message: "must be 1 to 32 letters, digits, '_' or '-', and not begin with web-push-, as the names of browsers do"
  })
)

/** The channels by their names. */
export const ChannelTable = Schema.Record(ChannelName, ChannelSettings)
export type ChannelTable = typeof ChannelTable.Type

/** For people who are to trust it: where the channel sends, and with which secrets. */
export const channelLine = (name: string, settings: ChannelSettings): string => {
  const { chat, from, password, preset, secret, to, token, url, user } = settings
  if (preset === "desktop") return `${name}: desktop of this machine`
  return [
    `${name}: ${preset} to ${url ?? telegramAddress}`,
    ...(chat === undefined ? [] : [`chat ${chat}`]),
    ...(to === undefined ? [] : [`for ${[to].flat().join(", ")}`]),
    ...(from === undefined ? [] : [`from ${from}`]),
    ...(user === undefined ? [] : [`as ${user}`]),
    ...[secret, token, password].flatMap((one) => (one === undefined ? [] : [`with ${one}`]))
  ].join(", ")
}

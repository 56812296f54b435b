/** The configured channels, with the secrets that the settings refer to. */
import { type ConsolePushSubscription, defined } from "@reprise/protocol"
import { Effect, Redacted, Schema } from "effect"
import { addressProblem, telegramAddress } from "../../notify/addresses.ts"
import { type OfferedAnswer, offeredAnswers } from "../../notify/answerLink.ts"
import type { ChannelSettings, ChannelTable, HttpPreset } from "../../notify/ChannelSettings.ts"
import type { Notices } from "../../notify/Notice.ts"
import type { Vapid } from "../../notify/vapid.ts"
import { readSecret } from "../secrets.ts"
import { signWith } from "../signing.ts"
import { type DesktopProgram, findDesktopProgram } from "./desktopProgram.ts"

interface Named {
  readonly name: string
  readonly reminders: boolean
  /** Whether its messages hold links that answer. Default: yes. */
  readonly answerLinks?: boolean
}

export interface HttpChannel extends Named {
  readonly preset: HttpPreset
  /** Whoever knows it may be able to write to the channel. */
  readonly url: Redacted.Redacted
  /** Signs the requests. */
  readonly secret?: Redacted.Redacted
  readonly token?: Redacted.Redacted
  /** Of Telegram. */
  readonly chat?: string
}

export interface MailChannel extends Named {
  readonly preset: "email"
  readonly url: Redacted.Redacted
  readonly from: string
  readonly to: ReadonlyArray<string>
  /** Without it the server must take mail from anybody. */
  readonly login?: { readonly user: string; readonly password: Redacted.Redacted }
}

export interface DesktopChannel extends Named {
  readonly preset: "desktop"
  readonly program: DesktopProgram
}

/** A browser that is told while no page is open. */
export interface PushChannel extends Named {
  readonly preset: "web-push"
  readonly browser: ConsolePushSubscription
  readonly vapid: Vapid
  /** Its push service may be this machine, by HTTP: for tests. */
  readonly loopback: boolean
  /** It is not told any more. */
  readonly forget: Effect.Effect<void>
}

export type Channel = HttpChannel | MailChannel | DesktopChannel | PushChannel

export interface SendOptions {
  /** The address of the web console, for links. */
  readonly origin?: string
  /** That of a console which only this machine reaches, for its own desktop. */
  readonly localOrigin?: string
  /** Signs the links that answer; absent: there are none. */
  readonly answerKey?: Redacted.Redacted
  /** How long an answer is waited for. Default: ten seconds. */
  readonly timeoutMs?: number
}

export const longestWaitMs = 10_000

/** The answers that a message of this channel offers by links. */
export const answersIn = (
  { answerLinks = true, name }: Named,
  notices: Notices,
  { answerKey, origin }: SendOptions,
  nowMs: number
): ReadonlyArray<OfferedAnswer> =>
  answerKey === undefined || origin === undefined || !answerLinks
    ? []
    : offeredAnswers(name, notices, origin, nowMs, signWith(answerKey))

/** A channel that cannot be used: what is missing, and the next step. It never holds a secret. */
export class ChannelProblem extends Schema.TaggedError<ChannelProblem>()("ChannelProblem", {
  channel: Schema.String,
  message: Schema.String,
  hint: Schema.String
}) {}

type Environment = Readonly<Record<string, string | undefined>>

const readField = (channel: string, field: string, reference: string, environment: Environment) =>
  readSecret(`The ${field} of notification channel '${channel}'`, reference, environment).pipe(
    Effect.mapError(
      ({ hint, message }) =>
        new ChannelProblem({ channel, message, hint: `${hint}, or take the channel out of notify.channels.` })
    )
  )

const resolveUrl = Effect.fnUntraced(function* (
  name: string,
  { preset, url: address = telegramAddress }: ChannelSettings,
  environment: Environment
) {
  const url = yield* readField(name, "address", address, environment)
  const problem = addressProblem(url, preset)
  if (problem !== undefined) {
    return yield* new ChannelProblem({
      channel: name,
      message: `The address of notification channel '${name}', from ${address}, is not valid.`,
      hint: `It must be ${problem}.`
    })
  }
  return Redacted.make(url)
})

const resolveDesktop = Effect.fnUntraced(function* (named: Named, environment: Environment) {
  const program = yield* findDesktopProgram(environment)
  if (program._tag === "Found") return { ...named, preset: "desktop", program: program.program } as const
  return yield* new ChannelProblem({
    channel: named.name,
    message: `Notification channel '${named.name}' cannot show notices on this machine: ${program.reason}.`,
    hint: `${program.hint}, or take the channel out of notify.channels.`
  })
})

const resolveChannel = Effect.fnUntraced(function* (name: string, settings: ChannelSettings, environment: Environment) {
  const { answerLinks = true, chat, from = "", preset, reminders = true, to = [], user } = settings
  const named = { name, reminders, answerLinks }
  if (preset === "desktop") return (yield* resolveDesktop(named, environment)) satisfies Channel as Channel
  const url = yield* resolveUrl(name, settings, environment)
  const secretOf = <Name extends "secret" | "token" | "password">(field: Name) =>
    settings[field] === undefined
      ? Effect.succeed<{ readonly [field in Name]?: Redacted.Redacted }>({})
      : Effect.map(readField(name, field, settings[field], environment), (value) => ({
          [field]: Redacted.make(value)
        }))
  if (preset === "email") {
    const { password } = yield* secretOf("password")
    const login = user === undefined || password === undefined ? {} : { login: { user, password } }
    return { ...named, preset, url, from, to: [to].flat(), ...login } satisfies Channel as Channel
  }
  return {
    ...named,
    preset,
    url,
    ...defined({ chat }),
    ...(yield* secretOf("secret")),
    ...(yield* secretOf("token"))
  } satisfies Channel as Channel
})

/** The channels in the order of the settings. Fails with the first that cannot be used. */
export const resolveChannels = (table: ChannelTable, environment: Environment) =>
  Effect.forEach(Object.entries(table), ([name, settings]) => resolveChannel(name, settings, environment))

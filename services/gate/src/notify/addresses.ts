/** The kinds of channels, and where they send: addresses of servers, and of people. Pure. */
import { Schema } from "effect"

export const Preset = Schema.Literals(["webhook", "ntfy", "slack", "telegram", "email", "desktop"])
export type Preset = typeof Preset.Type

/** Where bots of Telegram send, unless another server is named. */
export const telegramAddress = "https://api.telegram.org"

/** Its part of an address after `//`: a name, or an IP address. */
const isHost = (text: string): boolean => /^([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])$/.test(text)

const mailAddressProblem = ({ hash, hostname, pathname, protocol, search }: URL): string | undefined => {
  if (protocol !== "smtps:" && protocol !== "smtp:") return "an address that begins with smtps:// or smtp://"
  const isServer = isHost(hostname) && /^\/?$/.test(pathname) && search === "" && hash === ""
  return isServer ? undefined : "an address of a server alone, such as smtps://mail.example.org:465"
}

/** The topic of an ntfy server is the last part of its address; undefined: there is none that can be read. */
export const ntfyTopic = ({ pathname }: URL): string | undefined => {
  try {
    return decodeURIComponent(pathname.split("/").findLast((part) => part !== "") ?? "") || undefined
  } catch {
    return undefined
  }
}

const httpAddressProblem = (address: URL, preset: Preset): string | undefined => {
  const { href, protocol } = address
  if (protocol !== "https:" && protocol !== "http:") return "an address that begins with https:// or http://"
  if (preset === "ntfy" && ntfyTopic(address) === undefined)
    return "an address that ends in a topic, such as https://ntfy.sh/my-topic"
  if (preset === "telegram" && /[?#]/.test(href))
    return "an address without '?' and '#', since the bot's own path follows it"
  return undefined
}

/** What is wrong with an address that notifications are sent to; undefined: nothing. It never quotes the address. */
export const addressProblem = (url: string, preset: Preset): string | undefined => {
  const isMail = preset === "email"
  if (!URL.canParse(url))
    return `an address such as ${isMail ? "smtps://mail.example.org" : "https://example.org/hook"}`
  const address = new URL(url)
  if (address.username !== "" || address.password !== "") return "an address without a user name or password"
  return isMail ? mailAddressProblem(address) : httpAddressProblem(address, preset)
}

export interface MailServer {
  readonly host: string
  readonly port: number
  /** From the first byte on; else by STARTTLS. */
  readonly isTls: boolean
  /** Whether what is sent stays on this machine, so that it may be sent without TLS. */
  readonly isLocal: boolean
}

/** Of this machine, by its own name or as an IP address in full: what only looks like one may be a name elsewhere. */
export const isLoopback = (host: string): boolean =>
  /^(localhost|127(\.(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}|::1)$/i.test(host)

/** Of an address in which `addressProblem` finds nothing. */
export const mailServerOf = (url: string): MailServer => {
  const { hostname, port, protocol } = new URL(url)
  const host = hostname.replace(/^\[(.*)\]$/, "$1")
  const isTls = protocol === "smtps:"
  const usualPort = isTls ? 465 : 587
  return { host, port: port === "" ? usualPort : Number(port), isTls, isLocal: isLoopback(host) }
}

/** Whether the name of a server is one that the whole internet knows, and no IP address. */
export const isPublicName = (hostname: string): boolean =>
  /^[^.].*\.(?!(local|localhost|internal|lan|home)$)[a-z][a-z0-9-]+$/.test(hostname)

/** An address as it stands in headers of e-mail: nothing in it could begin another header or name a second address. */
export const MailAddress = Schema.String.check(
  Schema.isPattern(
    /^(?=.{3,254}$)[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*$/,
    { message: "Expected one address, such as me@example.org" }
  )
)

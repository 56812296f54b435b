/** Which browsers are told of questions while no page is open (docs/notifications.md#browsers). Pure. */
import { ConsolePushSubscription } from "@reprise/protocol"
import { Result, Schema } from "effect"
import { isLoopback, isPublicName } from "../notify/addresses.ts"
import type { ProxyRules } from "./visitor.ts"

/** Who switched it on: somebody with the answerers' token, of which this is a mark, or a user of a proxy. */
export const PushOwner = Schema.TaggedUnion({
  Token: { mark: Schema.String },
  User: { name: Schema.String }
})
export type PushOwner = typeof PushOwner.Type

export const KnownBrowser = Schema.Struct({
  ...ConsolePushSubscription.fields,
  owner: PushOwner,
  /** When its page last said that it still wants to be told. ISO 8601. */
  wantedAt: Schema.String
})
export type KnownBrowser = typeof KnownBrowser.Type

/** The file. */
export const KnownBrowsers = Schema.Struct({ version: Schema.Literal(1), browsers: Schema.Array(KnownBrowser) })

/**
 * What is wrong with the address at which a browser wants to be told; undefined: nothing. A browser could name any: only
 * a name that the whole internet knows is called, and by HTTPS. `loopback`: of this machine, too, for tests.
 */
export const endpointProblem = (endpoint: string, loopback = false): string | undefined => {
  if (!URL.canParse(endpoint)) return "it is no address"
  const { hostname, password, port, protocol, username } = new URL(endpoint)
  if (username !== "" || password !== "") return "it has a user name or a password"
  if (loopback && protocol === "http:" && isLoopback(hostname)) return undefined
  if (protocol !== "https:") return "it does not begin with https://"
  if (port !== "") return "it names a port"
  return isPublicName(hostname) ? undefined : "its name is none of the public internet"
}

const mostOfOne = 10
const mostInAll = 100

const isSame = (a: PushOwner, b: PushOwner): boolean =>
  a._tag === "Token" ? b._tag === "Token" : b._tag === "User" && a.name === b.name

/** A browser that comes again takes its own place. Of one owner the ones that were not heard of for longest go. */
export const withBrowser = (
  browsers: ReadonlyArray<KnownBrowser>,
  browser: KnownBrowser
): Result.Result<ReadonlyArray<KnownBrowser>, "full"> => {
  const others = browsers.filter(({ endpoint }) => endpoint !== browser.endpoint)
  const own = others
    .filter(({ owner }) => isSame(owner, browser.owner))
    .toSorted((a, b) => b.wantedAt.localeCompare(a.wantedAt))
  const tooMany = new Set(own.slice(mostOfOne - 1))
  const kept = [...others.filter((one) => !tooMany.has(one)), browser]
  return kept.length > mostInAll ? Result.fail("full") : Result.succeed(kept)
}

export interface PushRules {
  /** The mark of the answerers' token that counts now; absent: there is no token. */
  readonly mark?: string
  readonly proxy?: Pick<ProxyRules, "answerers" | "userHeader">
}

/** A browser whose page was not opened for so long is nobody's any more. */
const forgottenMs = 30 * 24 * 60 * 60_000

/** Which groups a user is in is known only while the page asks, so a rule for a group lets everybody stay who was in. */
const mayStillAnswer = (answerers: ReadonlyArray<string>, name: string): boolean =>
  answerers.some((one) => one === "*" || one === name || one.startsWith("group:"))

/** Whether whoever switched it on may still answer. */
export const isStillTold = ({ owner, wantedAt }: KnownBrowser, { mark, proxy }: PushRules, nowMs: number): boolean => {
  if (nowMs - Date.parse(wantedAt) > forgottenMs) return false
  if (owner._tag === "Token") return owner.mark === mark
  return proxy?.userHeader !== undefined && mayStillAnswer(proxy.answerers, owner.name)
}

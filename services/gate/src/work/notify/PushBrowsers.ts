/**
 * The browsers that are told of questions while no page is open, in a file of this user's alone: each is a channel of its
 * own (docs/notifications.md#browsers). Whichever process serves the console writes it, and whichever does the work reads
 * it, so nothing of it is kept in memory.
 */
import { readFileSync } from "node:fs"
import { rm } from "node:fs/promises"
import { hasCode, replaceFile } from "@reprise/process"
import type { ConsolePushSubscription } from "@reprise/protocol"
import { Clock, Effect, Result, Schema, Semaphore } from "effect"
import {
  endpointProblem,
  isStillTold,
  type KnownBrowser,
  KnownBrowsers,
  type PushOwner,
  type PushRules,
  withBrowser
} from "../../console/pushSubscription.ts"
import type { Vapid } from "../../notify/vapid.ts"
import type { PushChannel } from "./Channel.ts"
import { areKeys } from "./encryptPush.ts"
import { digestOf } from "./vapidKey.ts"

/** A browser that cannot be told: `hint` is the next step. */
export class BrowserRefused extends Schema.TaggedError<BrowserRefused>()("BrowserRefused", {
  code: Schema.String,
  message: Schema.String,
  hint: Schema.String
}) {}

export interface PushOptions {
  readonly file: string
  readonly vapid: Vapid
  readonly rules: PushRules
  /** Push services of this machine, by HTTP: for tests. */
  readonly loopback?: boolean
}

export interface PushBrowsers {
  /** With which a browser subscribes. */
  readonly publicKey: string
  readonly rules: PushRules
  /** The names of the channels of all browsers that are told now. */
  readonly names: () => ReadonlyArray<string>
  /** Undefined: the browser is not told any more. */
  readonly channelOf: (name: string) => PushChannel | undefined
  /** Sent again, it stays one. */
  readonly add: (subscription: ConsolePushSubscription, owner: PushOwner) => Effect.Effect<void, BrowserRefused>
  readonly remove: (endpoint: string) => Effect.Effect<void>
}

const decode = Schema.decodeUnknownResult(Schema.fromJsonString(KnownBrowsers))
const encode = Schema.encodeSync(Schema.fromJsonString(KnownBrowsers))

export const isPushChannel = (name: string): boolean => name.startsWith("web-push-")
const nameOf = ({ endpoint }: Pick<KnownBrowser, "endpoint">): string => `web-push-${digestOf(endpoint).slice(0, 12)}`

/** A file that is missing or damaged names nobody: the pages subscribe again when they are opened. */
const readBrowsers = (file: string): ReadonlyArray<KnownBrowser> => {
  try {
    const read = decode(readFileSync(file, "utf8"))
    return Result.isSuccess(read) ? read.success.browsers : []
  } catch (error) {
    if (hasCode(error, "ENOENT", "EACCES", "EISDIR")) return []
    throw error
  }
}

export const makePushBrowsers = ({ file, loopback = false, rules, vapid }: PushOptions): PushBrowsers => {
  const oneAtATime = Semaphore.makeUnsafe(1)
  const told = () => readBrowsers(file).filter((one) => isStillTold(one, rules, Date.now()))

  const write = (browsers: ReadonlyArray<KnownBrowser>) =>
    Effect.promise(() =>
      browsers.length === 0 ? rm(file, { force: true }) : replaceFile(file, encode({ version: 1, browsers }))
    )

  const remove = (endpoint: string) =>
    oneAtATime.withPermits(1)(Effect.suspend(() => write(told().filter((one) => one.endpoint !== endpoint))))

  const add = Effect.fn("addBrowser")(function* (subscription: ConsolePushSubscription, owner: PushOwner) {
    const problem =
      endpointProblem(subscription.endpoint, loopback) ??
      (areKeys(subscription.keys) ? undefined : "nothing can be encrypted for it")
    if (problem !== undefined) {
      return yield* new BrowserRefused({
        code: "unusable-browser",
        message: `This browser's push service cannot be used: ${problem}.`,
        hint: "Take another browser, or a channel of docs/notifications.md."
      })
    }
    const wantedAt = new Date(yield* Clock.currentTimeMillis).toISOString()
    const browsers = withBrowser(told(), { ...subscription, owner, wantedAt })
    if (Result.isFailure(browsers)) {
      return yield* new BrowserRefused({
        code: "too-many-browsers",
        message: "So many browsers are told of questions that no other one is taken.",
        hint: "Switch it off where nobody needs it."
      })
    }
    yield* write(browsers.success)
  }, oneAtATime.withPermits(1))

  return {
    publicKey: vapid.publicKey,
    rules,
    names: () => told().map(nameOf),
    channelOf: (name) => {
      const browser = told().find((one) => nameOf(one) === name)
      if (browser === undefined) return undefined
      const { endpoint, keys } = browser
      return {
        name,
        preset: "web-push",
        reminders: true,
        browser: { endpoint, keys },
        vapid,
        loopback,
        forget: remove(endpoint)
      }
    },
    add,
    remove
  }
}

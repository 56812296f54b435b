/** Whether the gate tells this browser of questions while no page is open, and how that is switched on and off. */
import { ConsolePush } from "@reprise/protocol"
import { Schema } from "effect"
import { reading, sending } from "../data/api.ts"
import { startNotices } from "./notices.ts"
import { type PushState, stateOf } from "./pushState.ts"

const readPush = reading(ConsolePush)
const send = sending(Schema.Struct({}))

const base64url = (bytes: ArrayBuffer): string =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "")

/** Not every browser takes the key as text. */
const bytesOf = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0))

const keyOf = (subscription: PushSubscription | null): string | undefined => {
  const { applicationServerKey = null } = subscription?.options ?? {}
  return applicationServerKey === null ? undefined : base64url(applicationServerKey)
}

/** Undefined: this browser has none. */
const manager = async (): Promise<PushManager | undefined> =>
  "PushManager" in globalThis ? (await startNotices())?.pushManager : undefined

const tellGate = (subscription: PushSubscription) => {
  const { endpoint = "", keys = {} } = subscription.toJSON()
  return send("push/subscribe", { endpoint, keys })
}

export const pushNow = async (): Promise<PushState> => {
  const push = await manager()
  if (push === undefined) return "unsupported"
  const { publicKey } = await readPush("push")
  const subscribedWith = keyOf(await push.getSubscription())
  return stateOf({ isSupported: true, permission: Notification.permission, publicKey, subscribedWith })
}

const subscribe = async (push: PushManager, publicKey: string): Promise<void> => {
  const before = await push.getSubscription()
  if (before !== null && keyOf(before) !== publicKey) await before.unsubscribe()
  await navigator.serviceWorker.ready
  await tellGate(await push.subscribe({ userVisibleOnly: true, applicationServerKey: bytesOf(publicKey) }))
}

/** Asks for the visitor's permission, so it must be called by a click. */
export const turnOnPush = async (): Promise<PushState> => {
  const permission = await Notification.requestPermission()
  const push = await manager()
  const { publicKey } = await readPush("push")
  if (permission === "granted" && push !== undefined && publicKey !== undefined) await subscribe(push, publicKey)
  return pushNow()
}

export const turnOffPush = async (): Promise<PushState> => {
  const subscription = await (await manager())?.getSubscription()
  if (subscription !== undefined && subscription !== null) {
    await subscription.unsubscribe()
    await send("push/unsubscribe", { endpoint: subscription.endpoint })
  }
  return pushNow()
}

/** A page that is opened says that its browser still wants to be told: the gate forgets those of which it never hears. */
export const renewPush = async (): Promise<void> => {
  const push = await manager()
  if (push === undefined || Notification.permission !== "granted" || (await push.getSubscription()) === null) return
  const { publicKey } = await readPush("push")
  if (publicKey !== undefined) await subscribe(push, publicKey)
}

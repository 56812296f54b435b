/**
 * A push service on the loopback with browsers that have subscribed there. What is sent to them is decrypted by Web Crypto,
 * as a browser does it (RFC 8291), and not by the code that encrypts.
 */
import type { webcrypto } from "node:crypto"
import { Effect } from "effect"
import { type Received, type ReceiverHandle, type Reply, startReceiver } from "./receiver.ts"

const { subtle } = globalThis.crypto

/** What a browser keeps of its subscription. */
export interface PushKeys {
  readonly privateKey: webcrypto.CryptoKey
  /** The uncompressed point. */
  readonly publicKey: Uint8Array<ArrayBuffer>
  readonly auth: Uint8Array<ArrayBuffer>
}

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.from(new TextEncoder().encode(text))
const joined = (...parts: ReadonlyArray<Uint8Array>): Uint8Array<ArrayBuffer> => Uint8Array.from(Buffer.concat(parts))
const curve = { name: "ECDH", namedCurve: "P-256" }

const derive = async (ikm: ArrayBuffer, salt: Uint8Array<ArrayBuffer>, info: Uint8Array<ArrayBuffer>, size: number) => {
  const key = await subtle.importKey("raw", ikm, "HKDF", false, ["deriveBits"])
  return subtle.deriveBits({ name: "HKDF", hash: "SHA-256", salt, info }, key, size * 8)
}

/** The text of a message with the content coding `aes128gcm`; rejected if it is for another browser, or was changed. */
export const decryptPush = async ({ auth, privateKey, publicKey }: PushKeys, message: Uint8Array): Promise<string> => {
  const body = Uint8Array.from(message)
  const salt = body.slice(0, 16)
  const keyEnd = 21 + (body[20] ?? 0)
  const sender = body.slice(21, keyEnd)
  const theirs = await subtle.importKey("raw", sender, curve, false, [])
  const shared = await subtle.deriveBits({ name: "ECDH", public: theirs }, privateKey, 256)
  const ikm = await derive(shared, auth, joined(bytesOf("WebPush: info\0"), publicKey, sender), 32)
  const key = await derive(ikm, salt, bytesOf("Content-Encoding: aes128gcm\0"), 16)
  const iv = await derive(ikm, salt, bytesOf("Content-Encoding: nonce\0"), 12)
  const cipher = await subtle.importKey("raw", key, "AES-GCM", false, ["decrypt"])
  const padded = Buffer.from(await subtle.decrypt({ name: "AES-GCM", iv }, cipher, body.slice(keyEnd)))
  return padded.subarray(0, padded.lastIndexOf(2)).toString("utf8")
}

const headerPattern = /^vapid t=([\w-]+\.[\w-]+)\.([\w-]+), k=([\w-]+)$/

/** What a header `Authorization` claims (RFC 8292); rejected if its signature is not by the key that it names. */
export const vapidClaims = async (header: string) => {
  const [, text = "", signature = "", key = ""] = headerPattern.exec(header) ?? []
  const algorithm = { name: "ECDSA", namedCurve: "P-256" }
  const signer = await subtle.importKey("raw", Buffer.from(key, "base64url"), algorithm, false, ["verify"])
  const isSigned = await subtle.verify(
    { name: "ECDSA", hash: "SHA-256" },
    signer,
    Buffer.from(signature, "base64url"),
    bytesOf(text)
  )
  if (!isSigned) throw new Error("the signature is not by the key")
  const claims: { readonly aud: string; readonly exp: number; readonly sub: string } = JSON.parse(
    Buffer.from(text.split(".")[1] ?? "", "base64url").toString("utf8")
  )
  return { ...claims, key }
}

export interface SubscribedBrowser {
  /** As `PushSubscription.toJSON()` gives it. */
  readonly subscription: {
    readonly endpoint: string
    readonly keys: { readonly p256dh: string; readonly auth: string }
  }
  /** What it was sent so far, decrypted. */
  readonly messages: Effect.Effect<ReadonlyArray<unknown>>
  readonly requests: () => ReadonlyArray<Received>
}

export interface PushService extends ReceiverHandle {
  readonly subscribe: (name: string) => Effect.Effect<SubscribedBrowser>
}

/** Runs until the scope closes. `reply`: the answer to the n-th request, from 1. */
export const startPushService = Effect.fnUntraced(function* (
  reply: (request: Received, n: number) => Reply = () => ({ status: 201 })
) {
  const receiver = yield* startReceiver(reply)
  const subscribe = (name: string) =>
    Effect.promise(async (): Promise<SubscribedBrowser> => {
      const pair = await subtle.generateKey(curve, true, ["deriveBits"])
      const publicKey = new Uint8Array(await subtle.exportKey("raw", pair.publicKey))
      const auth = globalThis.crypto.getRandomValues(new Uint8Array(16))
      const path = `/push/${name}`
      const requests = () => receiver.requests.filter((one) => one.path === path)
      const keys = { privateKey: pair.privateKey, publicKey, auth }
      return {
        subscription: {
          endpoint: `${receiver.url}${path}`,
          keys: {
            p256dh: Buffer.from(publicKey).toString("base64url"),
            auth: Buffer.from(auth).toString("base64url")
          }
        },
        messages: Effect.promise(() =>
          Promise.all(requests().map(async ({ bytes }): Promise<unknown> => JSON.parse(await decryptPush(keys, bytes))))
        ),
        requests
      }
    })
  return { ...receiver, subscribe } satisfies PushService
})

/** The key by which push services know this gate, from its secret. */
import { createECDH, createHash, createPrivateKey, sign } from "node:crypto"
import { Redacted } from "effect"
import type { Vapid } from "../../notify/vapid.ts"
import { signWith } from "../signing.ts"

/** `secret`: 32 bytes as base64url, the private key. Throws if they are none, which of 2³² random ones happens to one. */
export const vapidOf = (secret: Redacted.Redacted, contact: string): Vapid => {
  const pair = createECDH("prime256v1")
  pair.setPrivateKey(Buffer.from(Redacted.value(secret), "base64url"))
  const point = pair.getPublicKey()
  const part = (start: number) => point.subarray(start, start + 32).toString("base64url")
  const key = createPrivateKey({
    format: "jwk",
    key: { kty: "EC", crv: "P-256", x: part(1), y: part(33), d: Redacted.value(secret) }
  })
  return {
    publicKey: point.toString("base64url"),
    contact,
    sign: (text) => sign("sha256", Buffer.from(text), { key, dsaEncoding: "ieee-p1363" }).toString("base64url")
  }
}

/** Tells tokens apart, without being one: what a browser was allowed with one ends with it. */
export const markOf = (token: Redacted.Redacted): string => signWith(token)("reprise-web-push-1")

/** Base64url of SHA-256. */
export const digestOf = (text: string): string => createHash("sha256").update(text).digest("base64url")

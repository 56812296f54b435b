/** Signatures of sessions and links. */
import { createHash, createHmac, timingSafeEqual } from "node:crypto"
import { Redacted } from "effect"

/** HMAC-SHA256 with the key, as base64url. */
export const signWith =
  (key: Redacted.Redacted) =>
  (text: string): string =>
    createHmac("sha256", Redacted.value(key)).update(text).digest("base64url")

const digestOf = (text: string) => createHash("sha256").update(text).digest()

/** In constant time, whatever the lengths. */
export const isSame = (a: string, b: string): boolean => timingSafeEqual(digestOf(a), digestOf(b))

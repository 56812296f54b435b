/** The signature of a webhook's body (docs/notifications.md#signature). */
import { createHmac } from "node:crypto"
import { Redacted } from "effect"

/** `t=<seconds>,v1=<hex>`: HMAC-SHA256 over the time, a dot and the body. The time makes an old request recognisable. */
export const signature = (secret: Redacted.Redacted, nowMs: number, body: string): string => {
  const seconds = Math.floor(nowMs / 1000)
  const digest = createHmac("sha256", Redacted.value(secret)).update(`${seconds}.${body}`).digest("hex")
  return `t=${seconds},v1=${digest}`
}

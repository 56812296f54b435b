/** How the gate shows a push service that a message is from it (RFC 8292). Pure. */

/** `claims` and their signature are base64url; the signature is 64 bytes. */
export type SignClaims = (text: string) => string

export interface Vapid {
  /** Base64url of the uncompressed point. */
  readonly publicKey: string
  readonly sign: SignClaims
  /** Whom the push service may turn to: an address that begins with `https:` or `mailto:`. */
  readonly contact: string
}

/** A push service takes 24 hours at most. */
const validMs = 12 * 60 * 60_000

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url")

/** The header `Authorization` of a request to this endpoint, and to no other server. */
export const vapidHeader = (endpoint: string, { contact, publicKey, sign }: Vapid, nowMs: number): string => {
  const claims = { aud: new URL(endpoint).origin, exp: Math.floor((nowMs + validMs) / 1000), sub: contact }
  const text = `${encoded({ typ: "JWT", alg: "ES256" })}.${encoded(claims)}`
  return `vapid t=${text}.${sign(text)}, k=${publicKey}`
}

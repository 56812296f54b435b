/** Headers of every response (docs/console.md#who-gets-in). */

/** Styles may be inline: the diff view and the menus set them. Nothing is loaded from another origin. */
const contentSecurityPolicy = [
  "default-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self'",
  "object-src 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'self'"
].join("; ")

const securityHeaders = {
  "content-security-policy": contentSecurityPolicy,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff"
} as const

/**
 * How long browsers may keep what a route answers. `never`: it is data. `while unchanged`: they ask each time whether it is
 * the same. `forever`: a built file whose name comes from its content.
 */
export type Keeping = "never" | "while unchanged" | "forever"

const cacheControl: Record<Keeping, string> = {
  never: "no-store",
  "while unchanged": "no-cache",
  forever: "public, max-age=31536000, immutable"
}

/** Those of a response of a route; of a refusal or a failure nothing is kept. */
export const headersOf = (keeping: Keeping, status: number): Readonly<Record<string, string>> => ({
  ...securityHeaders,
  "cache-control": cacheControl[status < 400 ? keeping : "never"]
})

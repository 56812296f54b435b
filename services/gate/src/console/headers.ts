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

export const securityHeaders = {
  "content-security-policy": contentSecurityPolicy,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff"
} as const

/** Built files are named by their content, so they never change; the page names those of this version. */
export const cacheControl = (path: string): string => {
  if (path.startsWith("/api/")) return "no-store"
  return path.startsWith("/assets/") ? "public, max-age=31536000, immutable" : "no-cache"
}
